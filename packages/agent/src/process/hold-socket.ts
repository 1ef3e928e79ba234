import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isServed, waitForLock } from '@fairlead/engine'

/** Linux has 108 bytes for a socket's path, with the final zero. */
const LONGEST_SOCKET_PATH_BYTES = 107

/**
 * Ensures, until disposed, that this process is the socket's only agent: two agents on one folder would take
 * each other's actions for crashes. Removes the socket file of a dead agent. The lock is on a file next to
 * the socket, in a folder closed to other users, because any process could take the name of an abstract
 * socket; throws "another agent runs on …", or if the path is too long.
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

/** Throws if the path is too long for a socket; `of` names the process that listens there. */
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
