import type { FastifyReply } from 'fastify'

/** The text of each standing answer; null until it is sent for the first time. */
const texts = new WeakMap<object, string | null>()

/**
 * `answer`, of which the sender keeps this object for as long as nothing changes, and answers with it thousands of times: its text is
 * made once. An object belongs to one operation, and nothing in it may change.
 */
export function standing<Answer extends object>(answer: Answer): Answer {
  if (!texts.has(answer)) texts.set(answer, null)
  return answer
}

/** The text of a standing answer, as the schema of this reply writes it; undefined for every other answer. */
export function textOf(answer: unknown, reply: Pick<FastifyReply, 'serialize' | 'type'>): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const known = texts.get(answer)
  if (known === undefined) return undefined
  const text = known ?? String(reply.serialize(answer))
  if (known === null) texts.set(answer, text)
  void reply.type('application/json; charset=utf-8')
  return text
}
