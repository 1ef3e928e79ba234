import { mkdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lockFile } from '@fairlead/engine'

/** Linux keeps 108 bytes for a socket's path, the closing zero included. */
const LONGEST_SOCKET_PATH_BYTES = 107
/** How long the lock of a killed agent may outlive it, on a busy machine. */
const DYING_MS = 2_000

/**
 * Makes sure that no other process acts as the agent of this socket, until disposed of: of two agents on one
 * folder, each would mistake the other's actions for a crash. Removes the socket file of a dead agent. The
 * lock is on a file beside the socket, in a folder that no other user can enter: a name that every process
 * can take (an abstract socket) is no lock.
 *
 * Throws "another agent runs on …", or when the path is too long for a socket.
 */
export async function holdSocket(path: string): Promise<AsyncDisposable> {
  checkSocketPath(path, 'agent')
  await using stack = new AsyncDisposableStack()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  stack.use(await takeFile(`${path}.lock`, path))
  if (await somebodyListens(path)) throw anotherAgent(path)
  await rm(path, { force: true })
  const held = stack.move()
  return { [Symbol.asyncDispose]: () => held.disposeAsync() }
}

async function takeFile(file: string, path: string): Promise<Disposable> {
  for (const until = performance.now() + DYING_MS; performance.now() < until; await delay(20)) {
    const lock = lockFile(file)
    if (lock !== null) return lock
  }
  throw anotherAgent(path)
}

/** Throws when Linux takes no socket at this path; `of` names the process that listens there. */
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
