import { createServer } from 'node:net'

export interface ClaimedPorts extends AsyncDisposable {
  readonly from: number
  readonly to: number
}

/** Below the ports of outgoing connections, which a server that starts again could find taken. */
const FIRST = 20_000
const LAST = 29_900
const COUNT = 100

/**
 * A hundred ports that no other test, demo or benchmark on this machine takes, also while no process listens
 * on them, until disposed of or until this process ends. Throws when there are none.
 */
export async function claimPorts(): Promise<ClaimedPorts> {
  for (let from = FIRST; from <= LAST; from += COUNT) {
    const claim = await tryClaim(from)
    if (claim !== null) return { from, to: from + COUNT - 1, [Symbol.asyncDispose]: claim }
  }
  throw new Error(`all ports from ${FIRST} to ${LAST + COUNT - 1} are claimed by other tests`)
}

/** A name in Linux' abstract namespace: it goes away with the process that holds it, however that ends. */
async function tryClaim(from: number): Promise<(() => Promise<void>) | null> {
  const server = createServer((socket) => socket.destroy())
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  server.once('error', (cause: NodeJS.ErrnoException) =>
    cause.code === 'EADDRINUSE' ? resolve(false) : reject(cause),
  )
  server.listen(`\0fairlead-test-ports-${from}`, () => resolve(true))
  if (!(await promise)) return null
  server.unref()
  return async () => {
    const closed = Promise.withResolvers<void>()
    server.close(() => closed.resolve())
    await closed.promise
  }
}
