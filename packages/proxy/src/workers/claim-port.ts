import { createServer } from 'node:net'
import type { Address } from '@fairlead/api'
import { addressText } from '../address-text.ts'
import { tryHold } from '../hold-home.ts'

/**
 * Makes an address ours, until disposed of: several threads will listen there at once, and the kernel would let another proxy of
 * the same user do so too, unnoticed, and give it half of the clients. Throws when anybody has the address.
 */
export async function claimPort(address: Address): Promise<AsyncDisposable> {
  const where = addressText(address)
  const claim = await tryHold(`\0fairlead-endpoint-${where}`)
  if (claim === null) throw new Error(`listen EADDRINUSE: another proxy has ${where}`)
  await using stack = new AsyncDisposableStack()
  stack.use(claim)
  await listenAlone(address)
  const claimed = stack.move()
  return { [Symbol.asyncDispose]: () => claimed.disposeAsync() }
}

/** Of others, nobody listens. */
async function listenAlone({ host, port }: Address): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
  await promise
}
