import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'

export interface ClaimedPorts extends AsyncDisposable {
  readonly from: number
  readonly to: number
}

/** Below the ports of outgoing connections, which a server that starts again could find taken. */
const FIRST = 20_000
const LAST = 29_900
const COUNT = 100

/** An engine's port for other engines is so far above its own. */
const BUS = 10_000

/**
 * A hundred ports that no other test, demo or benchmark on this machine takes, also while no process listens
 * on them, until disposed of or until this process ends. Ports on which something listens, such as an engine
 * that a killed test has left, are passed over. Throws when there are none.
 */
export async function claimPorts(): Promise<ClaimedPorts> {
  for (let from = FIRST; from <= LAST; from += COUNT) {
    const claim = await tryClaim(from)
    if (claim === null) continue
    if (isFree(from)) return { from, to: from + COUNT - 1, [Symbol.asyncDispose]: claim }
    await claim()
  }
  throw new Error(`all ports from ${FIRST} to ${LAST + COUNT - 1} are claimed by other tests, or taken`)
}

function isFree(from: number): boolean {
  const isOurs = (port: number) => port >= from && port < from + COUNT
  return !listening().some((port) => isOurs(port) || isOurs(port - BUS))
}

/**
 * All ports of this machine on which something listens, by the tables of the kernel (proc(5)): column 2 is
 * the address, column 4 the state.
 */
function listening(): readonly number[] {
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .filter((table) => existsSync(table))
    .flatMap((table) => readFileSync(table, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === LISTEN)
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16))
}

const LISTEN = '0A'

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
