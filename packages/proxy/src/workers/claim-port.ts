import { createServer } from 'node:net'
import type { Address } from '@fairlead/api/of-proxies'
import { readListeners } from '@fairlead/engine'
import { addressText } from '../listen/address-text.ts'

/**
 * Several threads of a proxy listen at one address. The kernel would let another proxy of the same user
 * listen there too, without an error, and give it half of the clients. So a proxy checks for listeners before
 * it listens, and again when all threads listen, so that two proxies that start together see each other; a
 * name would be no lock, because any process could take it.
 */

/** Throws, as listening does, if anything listens at the address. */
export async function mustBeFree({ host, port }: Address): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
  await promise
}

/** Throws if more than `own` sockets listen at the address. */
export async function mustBeAlone(address: Address, own: number): Promise<void> {
  const listeners = await readListeners(address)
  if (listeners.length > own) throw new Error(`listen EADDRINUSE: another proxy has ${addressText(address)}`)
}
