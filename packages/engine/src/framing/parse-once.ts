import { createHash } from 'node:crypto'
import { type PlainReply, parsePlainReply } from './parse-plain-reply.ts'

/** Shorter ones are parsed equally fast. */
const LEAST_BYTES = 32 * 1024
/** Limits the memory, with MOST_KEPT: COMMAND, the largest common reply of engines, has about 130 KB. */
const MOST_BYTES = 256 * 1024
const MOST_KEPT = 6

/** Replies by the digest of their bytes; the most recently used is last. */
const kept = new Map<string, PlainReply>()

/**
 * Like `parsePlainReply`, but a large reply with known bytes, over any connection, returns the former value.
 * Thousands of engines of one build list the same commands, twelve thousand values each.
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
