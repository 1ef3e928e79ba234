import type { Router } from './router.ts'

/** What is kept of requests whose group is not known yet, of all clients of a thread. */
const MOST_BYTES = 128 * 1024 * 1024
/** Of any client so much is kept, whatever others have sent. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

/** Counts what is kept of the request that a client is sending. Whether there is room for it. */
export function countPart(router: Router): boolean {
  const bytes = router.closed ? 0 : router.part.buffer.length
  thread.bytes += bytes - router.partCounted
  router.partCounted = bytes
  return bytes <= SMALL_BYTES || thread.bytes <= MOST_BYTES
}
