import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { Server, TLSSocket } from 'node:tls'
import { paceRecords } from './pace-records.ts'

/** How the handshake of one client ends: one of them is called, once, unless the client is gone. */
export interface HandshakeEnd {
  /** In clear, with the addresses of its connection. */
  secured(client: TLSSocket): void
  /** The caller closes it. */
  failed(cause: Error, client: TLSSocket): void
}

/**
 * Begins the handshake of a client by the settings of `server`, whose own events do not tell of it. `isPaced`: what it sends is read few records at a
 * time, for as long as it stays.
 */
export function shakeHands(
  server: Server,
  raw: Socket,
  { isPaced }: { readonly isPaced: boolean },
  end: HandshakeEnd,
): void {
  const addresses = isPaced ? addressesOf(raw) : {}
  const emit = (event: string, ...args: readonly unknown[]): boolean => {
    // These are the arguments of the two events.
    if (event === 'secureConnection') {
      end.secured(Object.defineProperties(args[0] as TLSSocket, addresses))
      return true
    }
    if (event === 'tlsClientError') {
      end.failed(args[0] as Error, args[1] as TLSSocket)
      return true
    }
    return server.emit(event, ...args)
  }
  // TLS tells the server that took a client how its handshake ended. A failure says nothing of where the client came from, so each client has a server of its own, with all
  // that `server` has.
  const ofClient: Server = Object.create(server, { emit: { value: emit } })
  EventEmitter.prototype.emit.call(ofClient, 'connection', isPaced ? paceRecords(raw) : raw)
}

/** TLS over a stream has none. */
function addressesOf(raw: Socket): PropertyDescriptorMap {
  const { remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily } = raw
  const values = { remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily }
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]))
}
