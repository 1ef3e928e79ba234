import type { FastifyReply, FastifyRequest } from 'fastify'

/** Bases in `If-Match`; undefined: no condition. Quotes are optional; weak tags match none. */
export function expectedBases({ headers }: Pick<FastifyRequest, 'headers'>): readonly string[] | undefined {
  const tags = [headers['if-match'] ?? []].flat().flatMap((line) => line.split(','))
  const words = tags.map((tag) => tag.trim()).filter((tag) => tag !== '')
  if (words.length === 0 || words.includes('*')) return undefined
  return words.filter((tag) => !/^W\//i.test(tag)).map((tag) => tag.replaceAll('"', ''))
}

/** Sets `ETag` to the basis of the answer's plan. */
export function tagWithBasis(answer: unknown, reply: FastifyReply): void {
  const { plan } = answer as { readonly plan?: { readonly basis?: unknown } }
  if (typeof plan?.basis === 'string') void reply.header('etag', `"${plan.basis}"`)
}
