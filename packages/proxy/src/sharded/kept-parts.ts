import type { Router } from './router.ts'

/** The most bytes kept of requests whose group is not known yet, over all clients of a thread. */
const MOST_BYTES = 128 * 1024 * 1024
/** Each client may always have this much, whatever others have sent. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

/** Counts the bytes kept of the request that a client is sending. False: there is no room for them. */
export function countPart(router: Router): boolean {
  const bytes = router.closed ? 0 : router.part.buffer.length
  thread.bytes += bytes - router.partCounted
  router.partCounted = bytes
  return bytes <= SMALL_BYTES || thread.bytes <= MOST_BYTES
}
