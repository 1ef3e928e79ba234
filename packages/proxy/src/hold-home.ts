import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lockFile } from './lock-file.ts'

/** How long the name and the lock of a killed proxy may outlive it, on a busy machine. */
const DYING_MS = 2_000

/** Makes sure that no other process acts as the proxy of this home, until disposed of. Throws when one does. */
export async function holdHome(home: string): Promise<AsyncDisposable> {
  // A name in Linux' abstract namespace, for proxies of before, which know no other lock; and the file, for other containers.
  const digest = createHash('sha256').update(resolve(home)).digest('hex').slice(0, 32)
  for (const until = performance.now() + DYING_MS; performance.now() < until; await delay(20)) {
    await using stack = new AsyncDisposableStack()
    const name = stack.use(await tryHold(`\0fairlead-proxy-${digest}`))
    const file = name && stack.use(lockFile(join(home, 'proxy.lock')))
    if (file === null) continue
    const held = stack.move()
    return { [Symbol.asyncDispose]: () => held.disposeAsync() }
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
