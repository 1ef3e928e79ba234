import type { Socket } from 'node:net'
import type { TLSSocket, Server as TlsServer } from 'node:tls'
import { createQueue, type Queue } from '../process/queue.ts'

/** Starts TLS handshakes on connections that another server has accepted. */
export interface TlsDoor {
  /** Queues the handshake of `raw`; one begins in each round of the event loop, and sources take turns. */
  begin(raw: Socket, source: string, end: HandshakeEnd): void
}

/** Outcome of one handshake. At most one of them is called, once; neither if the client leaves. */
export interface HandshakeEnd {
  secured(client: TLSSocket): void
  /** The caller closes the client. */
  failed(cause: Error): void
}

type Begin = () => void

/** Queues of handshakes by source, the next one first. A handshake takes 0.5 ms of processor time. */
const waiting = new Map<string, Queue<Begin>>()
let isDue = false

/** Passes connections to `server`, a TLS server that does not listen, and reports the ends of handshakes. */
export function createTlsDoor(server: TlsServer): TlsDoor {
  /** Map from a client's address, its only property in the events of a TLS server. */
  const under = new Map<string, HandshakeEnd>()
  server.on('secureConnection', (client) => {
    const end = under.get(addressOf(client))
    // A client that has left has no address any more.
    if (end === undefined) client.destroy()
    else end.secured(client)
  })
  server.on('tlsClientError', (cause, client) => {
    under.get(addressOf(client))?.failed(cause)
    // Node reports clients that were too slow, but leaves them connected.
    client.destroy()
  })
  return {
    begin(raw, source, end) {
      const address = addressOf(raw)
      enqueue(source, () => {
        if (raw.destroyed) return
        under.set(address, end)
        raw.once('close', () => under.get(address) === end && under.delete(address))
        server.emit('connection', raw)
      })
    },
  }
}

function addressOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

function enqueue(source: string, begin: Begin): void {
  const queue = waiting.get(source) ?? createQueue()
  queue.push(begin)
  waiting.set(source, queue)
  notice()
}

function notice(): void {
  if (isDue || waiting.size === 0) return
  isDue = true
  setImmediate(() => {
    isDue = false
    const [next] = waiting
    if (next === undefined) return
    const [source, queue] = next
    waiting.delete(source)
    const begin = queue.shift()
    if (queue.size > 0) waiting.set(source, queue)
    notice()
    begin?.()
  })
}
