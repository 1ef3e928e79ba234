import { connect } from 'node:net'

/** True if a process listens on the Unix socket at this path. A dead process's file refuses. */
export async function isServed(socketPath: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(socketPath)
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  const served = await promise
  socket.destroy()
  return served
}
