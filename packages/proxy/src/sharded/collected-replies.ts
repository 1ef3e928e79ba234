import type { Router } from './router.ts'

/** What all clients of a thread may keep it collecting: answers that several groups give together, and that are not read yet. */
const MOST_BYTES = 128 * 1024 * 1024
/** Any client may have so much, whatever others have. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

type Collector = Pick<Router, 'client' | 'collectedBytes' | 'closed' | 'busy'>

/** Counts bytes that have come and are kept. Whether there is room for them. */
export function collect(router: Collector, bytes: number): boolean {
  thread.bytes += bytes
  router.collectedBytes += bytes
  return router.collectedBytes <= SMALL_BYTES || thread.bytes <= MOST_BYTES
}

/** They are kept no more: `bytes` of them, or all. */
export function letGo(router: Collector, bytes = router.collectedBytes): void {
  thread.bytes -= bytes
  router.collectedBytes -= bytes
}

/** The client has been told: what it has not read yet is kept for it. */
export function letGoOnceRead(router: Collector): void {
  if (router.collectedBytes <= SMALL_BYTES || !router.client.writableNeedDrain) {
    letGo(router)
    return
  }
  router.client.once('drain', () => {
    // Perhaps the next answer is being collected: then with that.
    if (!router.closed && !router.busy) letGo(router)
  })
}
