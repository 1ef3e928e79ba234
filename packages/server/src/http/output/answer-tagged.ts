import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Answers with JSON and its weak `ETag`, a hash; 304 if `If-None-Match` has that tag. Saves the transfer, not
 * the reading.
 */
export function answerTagged(
  text: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | string {
  const tag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  void reply.header('etag', tag)
  if (isKnown([request.headers['if-none-match'] ?? []].flat().join(','), tag)) return reply.code(304).send()
  // The text is JSON, also with selected fields.
  void reply.type('application/json; charset=utf-8').serializer(asItIs)
  return text
}

const asItIs = (text: unknown) => String(text)

/** Weak comparison: tags are equal with or without `W/`. */
function isKnown(header: string, tag: string): boolean {
  const bare = (one: string) => one.trim().replace(/^W\//i, '')
  const known = header.split(',').map(bare)
  return known.includes('*') || known.includes(bare(tag))
}
