import type { FastifyReply } from 'fastify'

/** Texts of standing answers; null: not sent yet. */
const texts = new WeakMap<object, string | null>()

/**
 * Marks an answer for caching its text: the sender reuses the unchanged object thousands of times. It belongs
 * to one operation, and must not be modified.
 */
export function standing<Answer extends object>(answer: Answer): Answer {
  if (!texts.has(answer)) texts.set(answer, null)
  return answer
}

/** The cached text of a standing answer; undefined for others. */
export function textOf(answer: unknown, reply: Pick<FastifyReply, 'serialize' | 'type'>): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const known = texts.get(answer)
  if (known === undefined) return undefined
  const text = known ?? String(reply.serialize(answer))
  if (known === null) texts.set(answer, text)
  void reply.type('application/json; charset=utf-8')
  return text
}
