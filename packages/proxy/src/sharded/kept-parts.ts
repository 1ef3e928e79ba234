import type { Router } from './router.ts'

/** Limit of kept requests whose group is not known yet, for all clients of a thread. */
const MOST_BYTES = 128 * 1024 * 1024
/** Guaranteed to each client. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

/** Counts the bytes kept of the client's incomplete request. Returns false if there is no room for them. */
export function countPart(router: Router): boolean {
  const bytes = router.closed ? 0 : router.input.part.buffer.length
  thread.bytes += bytes - router.input.partCounted
  router.input.partCounted = bytes
  return bytes <= SMALL_BYTES || thread.bytes <= MOST_BYTES
}
