import { connect } from 'node:net'

/** Whether a process listens on the Unix socket at this path. The file of a dead process refuses. */
export async function isServed(socketPath: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(socketPath)
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  const served = await promise
  socket.destroy()
  return served
}
