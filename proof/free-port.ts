import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A TCP port of loopback that is free at this moment, chosen by the kernel. Another process may take it
 * before it is used.
 */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/**
 * Hands out the free ports from `first` to `last` in turn. A port is handed out again only after all others,
 * so an engine can restart on it. No outgoing connection has a port below 32768. Throws when none is free.
 */
export function freePortsFrom(first: number, last: number): () => Promise<number> {
  const count = last - first + 1
  let next = 0
  return async () => {
    for (let tries = 0; tries < count; tries += 1) {
      const port = first + (next % count)
      next += 1
      if (await canListen(port)) return port
    }
    throw new Error(`no free port is left from ${first} to ${last}`)
  }
}

function canListen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
