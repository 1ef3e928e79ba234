import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** How long the name of a killed proxy may outlive it. */
const DYING_MS = 500

/** Makes sure that nobody else acts as the proxy of this home, until disposed of. Throws when somebody does. */
export async function holdHome(home: string): Promise<AsyncDisposable> {
  // A name in Linux' abstract namespace: it goes away with the process that holds it, however that ends.
  const digest = createHash('sha256').update(resolve(home)).digest('hex').slice(0, 32)
  for (const until = performance.now() + DYING_MS; performance.now() < until; await delay(20)) {
    const held = await tryHold(`\0fairlead-proxy-${digest}`)
    if (held !== null) return held
  }
  throw new Error(`another proxy runs on ${home}; stop it first`)
}

/** Holds a name of the abstract namespace, until disposed of; null when somebody has it. */
export async function tryHold(name: string): Promise<AsyncDisposable | null> {
  const server = createServer((socket) => socket.destroy())
  const { promise, resolve: answer, reject } = Promise.withResolvers<boolean>()
  server.once('error', (cause: NodeJS.ErrnoException) =>
    cause.code === 'EADDRINUSE' ? answer(false) : reject(cause),
  )
  server.listen(name, () => answer(true))
  if (!(await promise)) return null
  server.unref()
  return server
}
