import { connect } from 'node:net'
import type { EngineAddress } from './engine-address.ts'

/**
 * True if nothing listens at an address; false if the kernel does not answer within `withinMs`. Sends
 * nothing, and does not check which process accepts the connection.
 */
export async function isRefused({ host, port }: EngineAddress, withinMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port })
  socket.once('connect', () => resolve(false))
  socket.once('error', (cause) => resolve('code' in cause && cause.code === 'ECONNREFUSED'))
  const late = setTimeout(() => resolve(false), withinMs)
  const refused = await promise
  clearTimeout(late)
  socket.destroy()
  return refused
}
