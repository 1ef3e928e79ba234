import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isServed, waitForLock } from '@fairlead/engine'

/** Linux keeps 108 bytes for a socket's path, the closing zero included. */
const LONGEST_SOCKET_PATH_BYTES = 107

/**
 * Makes sure that no other process acts as the agent of this socket, until disposed of: with two agents on one
 * folder, each would take the other's actions for a crash. Removes the socket file of a dead agent. The
 * lock is on a file beside the socket, in a folder that no other user can enter: a name that every process
 * can take (an abstract socket) is no lock.
 *
 * Throws "another agent runs on …", or when the path is too long for a socket.
 */
export async function holdSocket(path: string): Promise<AsyncDisposable> {
  checkSocketPath(path, 'agent')
  await using stack = new AsyncDisposableStack()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const lock = await waitForLock(`${path}.lock`)
  if (lock === null) throw anotherAgent(path)
  stack.use(lock)
  if (await isServed(path)) throw anotherAgent(path)
  await rm(path, { force: true })
  const held = stack.move()
  return { [Symbol.asyncDispose]: () => held.disposeAsync() }
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
