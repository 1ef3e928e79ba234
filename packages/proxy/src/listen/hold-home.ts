import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lockFile } from '@fairlead/engine'

/** How long the lock of a killed proxy may outlive it, on a busy machine. */
const DYING_MS = 2_000

/**
 * Makes sure that no other process acts as the proxy of this home, until disposed of. Throws when one does.
 * The lock is on a file in the home, which no other user can open: a name that every process can take (a
 * port, or an abstract socket) is no lock.
 */
export async function holdHome(home: string, socketPath: string): Promise<Disposable> {
  for (const until = performance.now() + DYING_MS; performance.now() < until; await delay(20)) {
    using stack = new DisposableStack()
    const lock = lockFile(join(home, 'proxy.lock'))
    if (lock === null) continue
    stack.use(lock)
    // Older proxies do not lock the file.
    if (await isServed(socketPath)) continue
    return stack.move()
  }
  throw new Error(`another proxy runs on ${home}; stop it first`)
}

async function isServed(socketPath: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(socketPath)
  socket.once('connect', () => resolve(true))
  // Refused: the file of a dead proxy. Absent: there was none.
  socket.once('error', () => resolve(false))
  const served = await promise
  socket.destroy()
  return served
}
