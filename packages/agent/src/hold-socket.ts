import { createHash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lockFile } from './lock-file.ts'

/** Linux keeps 108 bytes for a socket's path, the closing zero included. */
const LONGEST_SOCKET_PATH_BYTES = 107
/** How long the name and the lock of a killed agent may outlive it. */
const DYING_MS = 2_000

/**
 * Makes sure that no other process acts as the agent of this socket, until disposed of: of two agents on one folder, each
 * would take what the other does for a crash. Clears away the socket file of a dead agent.
 *
 * Throws "another agent runs on …", or when the path is too long for a socket.
 */
export async function holdSocket(path: string): Promise<AsyncDisposable> {
  checkSocketPath(path, 'agent')
  // A name in Linux' abstract namespace: it goes away with the process that holds it, however that ends.
  const name = `\0fairlead-agent-${createHash('sha256').update(resolve(path)).digest('hex').slice(0, 32)}`
  await using stack = new AsyncDisposableStack()
  stack.use(await takeName(name, path))
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Names belong to a network: an agent in another container on the same volume is seen by the lock of a file.
  stack.use(await takeFile(`${path}.lock`, path))
  if (await somebodyListens(path)) throw anotherAgent(path)
  await rm(path, { force: true })
  const held = stack.move()
  return { [Symbol.asyncDispose]: () => held.disposeAsync() }
}

async function takeName(name: string, path: string): Promise<AsyncDisposable> {
  return whenFree(() => tryListen(name), path)
}

async function takeFile(file: string, path: string): Promise<Disposable> {
  return whenFree(async () => lockFile(file), path)
}

/** An agent that was killed this instant may still hold either for some milliseconds, on a busy machine for longer. */
async function whenFree<Lock>(take: () => Promise<Lock | null>, path: string): Promise<Lock> {
  const until = performance.now() + DYING_MS
  for (;;) {
    const lock = await take()
    if (lock) return lock
    if (performance.now() > until) throw anotherAgent(path)
    await delay(20)
  }
}

/** Null when the name is taken. */
async function tryListen(name: string): Promise<AsyncDisposable | null> {
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

/** Throws when Linux takes no socket at this path, `of` being whose it is. */
export function checkSocketPath(path: string, of: 'agent' | 'proxy'): void {
  const bytes = Buffer.byteLength(path)
  if (bytes > LONGEST_SOCKET_PATH_BYTES)
    throw new Error(
      `the path of the ${of}'s socket has ${bytes} bytes, Linux allows ${LONGEST_SOCKET_PATH_BYTES}: ${path}; choose a shorter FAIRLEAD_HOME`,
    )
}

function anotherAgent(path: string): Error {
  return new Error(`another agent runs on ${path}; stop it first`)
}

async function somebodyListens(path: string): Promise<boolean> {
  const { promise, resolve: answer } = Promise.withResolvers<boolean>()
  const socket = connect(path)
  socket.once('connect', () => answer(true))
  // Refused: the file of a dead agent. Absent: there was none.
  socket.once('error', () => answer(false))
  const listens = await promise
  socket.destroy()
  return listens
}
