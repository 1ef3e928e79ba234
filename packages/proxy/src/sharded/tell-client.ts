import type { Router } from './router.ts'

/** Larger ones are not worth copying. */
const LARGEST_COPIED_BYTES = 64 * 1024

/** To the client, with what else is told before the next `flushTold`. */
export function tell(router: Router, chunk: Buffer, from: number, to: number): void {
  const { run } = router
  if (run !== null && run.chunk === chunk && run.to === from) {
    run.to = to
    return
  }
  endRun(router)
  router.run = { chunk, from, to }
}

function endRun(router: Router): void {
  const { run } = router
  if (run === null) return
  router.told.push(run.chunk.subarray(run.from, run.to))
  router.toldBytes += run.to - run.from
  router.run = null
}

/** Writes what was told. Replies of several legs are many small pieces, which are cheaper to copy than to write. */
export function flushTold(router: Router): void {
  endRun(router)
  const { told, toldBytes, client } = router
  const [first] = told
  if (first === undefined) return
  router.told = []
  router.toldBytes = 0
  if (told.length === 1) client.write(first)
  else if (toldBytes <= LARGEST_COPIED_BYTES) client.write(Buffer.concat(told, toldBytes))
  else {
    client.cork()
    for (const bytes of told) client.write(bytes)
    client.uncork()
  }
}
