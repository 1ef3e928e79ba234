import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { WantedEndpoint } from '@fairlead/api'

const BACKLOG = 4_096

/** Listens for the clients of an endpoint. Throws when it cannot. `reusePort`: several processes may share the port. */
export async function listen(
  wanted: WantedEndpoint,
  reusePort: boolean,
  admit: (socket: Socket) => void,
): Promise<Server> {
  const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 300_000 }
  const server =
    wanted.tls === null
      ? createServer(options, admit)
      : createTlsServer({ ...options, cert: wanted.tls.cert, key: wanted.tls.key }, admit)
  server.on('tlsClientError', () => undefined)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host: wanted.host, port: wanted.port, backlog: BACKLOG, reusePort }, () => resolve())
  await promise
  server.off('error', reject)
  server.on('error', () => undefined)
  return server
}

/** For who is one too many: told so, and gone. */
export function turnAway(socket: Socket): void {
  socket
    .on('error', () => undefined)
    .end('-ERR max number of clients reached\r\n')
    .destroySoon()
}

export async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  await promise
}
