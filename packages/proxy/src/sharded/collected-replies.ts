import type { Router } from './router.ts'

/** Limit of collected replies for all clients of a thread: combined from several groups, or unread. */
const MOST_BYTES = 128 * 1024 * 1024
/** Guaranteed to each client. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

type Collector = Pick<Router, 'client' | 'output' | 'closed' | 'busy'>

/** Counts kept bytes. Returns false if there is no room for them. */
export function collect(router: Collector, bytes: number): boolean {
  thread.bytes += bytes
  router.output.collectedBytes += bytes
  return router.output.collectedBytes <= SMALL_BYTES || thread.bytes <= MOST_BYTES
}

/** Called when `bytes`, or all bytes, are no longer kept. */
export function letGo(router: Collector, bytes = router.output.collectedBytes): void {
  thread.bytes -= bytes
  router.output.collectedBytes -= bytes
}

/** Called when the answer was written: bytes that the client has not read yet still count. */
export function letGoOnceRead(router: Collector): void {
  if (router.output.collectedBytes <= SMALL_BYTES || !router.client.writableNeedDrain) {
    letGo(router)
    return
  }
  router.client.once('drain', () => {
    // If the next answer is being collected already, they are counted with it.
    if (!router.closed && !router.busy) letGo(router)
  })
}
