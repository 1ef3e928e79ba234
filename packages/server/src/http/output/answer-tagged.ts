import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Answers with a text of JSON and its weak `ETag`, which is made from the text itself; 304 without it where `If-None-Match` has that tag. What
 * it saves is the way to the client, not the reading.
 */
export function answerTagged(
  text: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | string {
  const tag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  void reply.header('etag', tag)
  if (isKnown([request.headers['if-none-match'] ?? []].flat().join(','), tag)) return reply.code(304).send()
  // It is JSON already, also where fields were selected.
  void reply.type('application/json; charset=utf-8').serializer(asItIs)
  return text
}

const asItIs = (text: unknown) => String(text)

/** By the weak comparison: a tag in front of which `W/` is missing is the same. */
function isKnown(header: string, tag: string): boolean {
  const bare = (one: string) => one.trim().replace(/^W\//i, '')
  const known = header.split(',').map(bare)
  return known.includes('*') || known.includes(bare(tag))
}
