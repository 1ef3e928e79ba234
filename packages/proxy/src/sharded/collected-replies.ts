import type { Router } from './router.ts'

/** The most bytes that a thread collects for all clients: answers that several groups give together, and that are not read yet. */
const MOST_BYTES = 128 * 1024 * 1024
/** Each client may always have this much, whatever others have. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

type Collector = Pick<Router, 'client' | 'collectedBytes' | 'closed' | 'busy'>

/** Counts bytes that are kept. False: there is no room for them. */
export function collect(router: Collector, bytes: number): boolean {
  thread.bytes += bytes
  router.collectedBytes += bytes
  return router.collectedBytes <= SMALL_BYTES || thread.bytes <= MOST_BYTES
}

/** `bytes`, or all bytes, are not kept any more. */
export function letGo(router: Collector, bytes = router.collectedBytes): void {
  thread.bytes -= bytes
  router.collectedBytes -= bytes
}

/** The answer was written to the client: bytes that it has not read yet still count. */
export function letGoOnceRead(router: Collector): void {
  if (router.collectedBytes <= SMALL_BYTES || !router.client.writableNeedDrain) {
    letGo(router)
    return
  }
  router.client.once('drain', () => {
    // If the next answer is being collected already, they are counted with that.
    if (!router.closed && !router.busy) letGo(router)
  })
}
