import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { WantedEndpoint } from '@fairlead/api'

const BACKLOG = 4_096

/**
 * Listens for the clients of an endpoint. Throws when it cannot. `reusePort`: several listeners may share the port.
 * `onStranger` hears of those that do not speak TLS where it is spoken.
 */
export async function listen(
  wanted: WantedEndpoint,
  reusePort: boolean,
  admit: (socket: Socket) => void,
  onStranger: (socket: Socket, why: string) => void,
): Promise<Server> {
  const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 300_000 }
  const server =
    wanted.tls === null
      ? createServer(options, admit)
      : createTlsServer({ ...options, cert: wanted.tls.cert, key: wanted.tls.key }, admit)
  server.on('tlsClientError', (cause: Error, socket: Socket) => onStranger(socket, `TLS: ${cause.message}`))
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
