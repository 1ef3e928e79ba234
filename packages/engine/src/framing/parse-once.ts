import { createHash } from 'node:crypto'
import { type PlainReply, parsePlainReply } from './parse-plain-reply.ts'

/** Shorter ones are parsed as fast as they are compared. */
const LEAST_BYTES = 32 * 1024
/** With these two, what is kept is bounded: COMMAND, the largest that many engines answer alike, has some 130 KB. */
const MOST_BYTES = 256 * 1024
const MOST_KEPT = 6

/** By the digest of their bytes, the one that was used last stands last. */
const kept = new Map<string, PlainReply>()

/**
 * As `parsePlainReply`; but for a large reply whose bytes came before, over any connection, the value made then is returned. Thousands of
 * engines of one build list the same commands, and each list is twelve thousand values.
 */
export function parseOnce(bytes: Buffer): PlainReply {
  if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) return parsePlainReply(bytes)
  const name = createHash('sha256').update(bytes).digest('base64')
  const reply = kept.get(name) ?? parsePlainReply(bytes)
  kept.delete(name)
  kept.set(name, reply)
  const [oldest] = kept.keys()
  if (oldest !== undefined && kept.size > MOST_KEPT) kept.delete(oldest)
  return reply
}
