import type { Router } from './router.ts'

/** Larger pieces are not copied: that would cost more than a write. */
const LARGEST_COPIED_BYTES = 64 * 1024

/** Queues bytes for the client until the next `flushOutgoing`. */
export function queueForClient(router: Router, chunk: Buffer, from: number, to: number): void {
  const {
    output: { run },
  } = router
  if (run !== null && run.chunk === chunk && run.to === from) {
    run.to = to
    return
  }
  endRun(router)
  router.output.run = { chunk, from, to }
}

function endRun(router: Router): void {
  const {
    output: { run },
  } = router
  if (run === null) return
  router.output.outgoing.push(run.chunk.subarray(run.from, run.to))
  router.output.outgoingBytes += run.to - run.from
  router.output.run = null
}

/** Writes the queued bytes. Many small replies are cheaper to copy together than to write singly. */
export function flushOutgoing(router: Router): void {
  endRun(router)
  const {
    client,
    output: { outgoing, outgoingBytes },
  } = router
  const [first] = outgoing
  if (first === undefined) return
  router.output.outgoing = []
  router.output.outgoingBytes = 0
  if (outgoing.length === 1) client.write(first)
  else if (outgoingBytes <= LARGEST_COPIED_BYTES) client.write(Buffer.concat(outgoing, outgoingBytes))
  else {
    client.cork()
    for (const bytes of outgoing) client.write(bytes)
    client.uncork()
  }
}
