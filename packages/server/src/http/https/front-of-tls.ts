import { createServer, type Server, type Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import {
  awaitHello,
  createHandshakeQueue,
  createTlsDoor,
  createTlsGuard,
  HANDSHAKES_AT_ONCE,
} from '@fairlead/engine'
import { refusePlain } from './refuse-plain.ts'

/** A client that has not finished the handshake within this time is closed. */
const HANDSHAKE_MS = 5_000

/**
 * What listens in place of `tls`, a server of HTTPS that does not: handshakes wait for their first message and their turn, and floods are cut, as at the API (tls-door.ts). A client that
 * speaks plain HTTP is told what the port is.
 */
export function frontOfTls(
  tls: TlsServer,
  { mostConnections }: { readonly mostConnections: number },
): Server {
  const guard = createTlsGuard()
  const queue = createHandshakeQueue({ atOnce: HANDSHAKES_AT_ONCE })
  const door = createTlsDoor(tls, guard)
  const begin = (raw: Socket, source: string, passed: () => void) =>
    door.begin(raw, {
      ...{ source, cut: (client) => client.destroy() },
      secured(client) {
        passed()
        door.admit(raw, client, () => true)
        tls.emit('secureConnection', client)
      },
      failed: (_, client) => void client.destroy(),
    })
  const front = createServer({ noDelay: true, allowHalfOpen: true }, (raw) => {
    raw.on('error', () => raw.destroy())
    const source = raw.remoteAddress ?? ''
    const late = setTimeout(() => raw.destroy(), HANDSHAKE_MS)
    const passed = () => {
      clearTimeout(late)
      queue.end(raw)
    }
    raw.once('close', passed)
    const stop = awaitHello(raw, {
      come: () => queue.add(raw, source, () => stop(() => begin(raw, source, passed))),
      plain: () => stop(() => refusePlain(raw)),
      refused: () => raw.destroy(),
    })
  })
  front.maxConnections = mostConnections
  return front
}
