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
 * Makes the server that listens for `tls`, a server of HTTPS that does not listen itself. Handshakes wait for their first message and for their turn, and floods are cut, as at the API
 * (tls-door.ts). A client that speaks plain HTTP is told what the port is. Of more than `most` connections the oldest is closed that is not in `busy` (with a request under way): strangers must not keep others out.
 */
export function frontOfTls(
  tls: TlsServer,
  { most, busy }: { readonly most: number; readonly busy: ReadonlySet<Socket> },
): Server {
  /** The oldest first; with what TLS has made of it. */
  const open = new Map<Socket, Socket>()
  const take = takeWith(tls, (raw, client) => open.set(raw, client))
  return createServer({ noDelay: true, allowHalfOpen: true }, (raw) => {
    raw.on('error', () => raw.destroy())
    raw.once('close', () => open.delete(raw))
    open.set(raw, raw)
    if (open.size > most) closeOldest(open, busy)
    take(raw)
  })
}

/** Takes a client through its handshake, and hands it to `tls`; `secured` is told. */
function takeWith(tls: TlsServer, secured: (raw: Socket, client: Socket) => void): (raw: Socket) => void {
  const queue = createHandshakeQueue({ atOnce: HANDSHAKES_AT_ONCE })
  const door = createTlsDoor(tls, createTlsGuard())
  const begin = (raw: Socket, source: string, passed: () => void) =>
    door.begin(raw, {
      ...{ source, cut: (client) => client.destroy() },
      secured(client) {
        passed()
        secured(raw, client)
        door.admit(raw, client, () => true)
        tls.emit('secureConnection', client)
      },
      failed: (_, client) => void client.destroy(),
    })
  return (raw) => {
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
  }
}

function closeOldest(open: ReadonlyMap<Socket, Socket>, busy: ReadonlySet<Socket>): void {
  for (const [raw, client] of open) {
    if (busy.has(client)) continue
    raw.destroy()
    return
  }
}
