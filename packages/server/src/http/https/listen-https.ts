import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { awaitHello, createTlsDoor, tlsForClients } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import type { ApiCertificate } from '../../tls/api-certificate.ts'
import { printRefusal } from '../answer-error.ts'

type Pair = Pick<ApiCertificate, 'cert' | 'key'>

/** The API over TLS at one port. Disposing waits for its connections. */
export interface HttpsListener extends AsyncDisposable {
  readonly port: number
  /** Used for new clients; others stay. Throws without a change if unusable. */
  show(pair: Pair): void
  /** Accepts no new clients. */
  stop(): void
}

/** Time limit of a handshake. */
const HANDSHAKE_MS = 5_000

/**
 * Also serves `http` over TLS. After the handshake, connections go to the plain server, so that its limits
 * apply.
 */
export async function listenHttps(deps: {
  readonly http: Pick<FastifyInstance, 'server' | 'connections'>
  readonly place: { readonly host: string; readonly port: number }
  readonly pair: Pair
}): Promise<HttpsListener> {
  const { http, place, pair } = deps
  const tls = createTlsServer({
    ...tlsForClients(pair),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_MS,
  })
  // Node reports request faults to the server that created the socket.
  tls.on('clientError', (cause: Error, socket: Socket) => http.server.emit('clientError', cause, socket))
  const front = createServer({ noDelay: true }, takeWith(createTlsDoor(tls), http))
  front.listen(place)
  await once(front, 'listening')
  front.on('error', () => undefined) // one failed accept
  const address = front.address()
  // Not `once`: it would reject with the error of a failed accept.
  const closed = new Promise<void>((resolve) => front.once('close', () => resolve()))
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    show: (other) => tls.setSecureContext(tlsForClients(other)),
    stop: () => void front.close(),
    async [Symbol.asyncDispose]() {
      front.close()
      await closed
    },
  }
}

/** Performs the handshake. Explains the port to clients with plain HTTP. */
function takeWith(
  door: ReturnType<typeof createTlsDoor>,
  { server, connections }: Pick<FastifyInstance, 'server' | 'connections'>,
): (raw: Socket) => void {
  return (raw) => {
    const leave = connections.add(raw)
    const late = setTimeout(() => raw.destroy(), HANDSHAKE_MS)
    raw.on('error', () => raw.destroy())
    raw.once('close', () => clearTimeout(late))
    const come = () =>
      door.begin(raw, raw.remoteAddress ?? '', {
        secured(client) {
          clearTimeout(late)
          leave()
          server.emit('connection', client)
        },
        failed: () => undefined,
      })
    const stop = awaitHello(raw, {
      come: () => stop(come),
      plain: () => stop(() => refusePlain(raw)),
      refused: () => raw.destroy(),
    })
  }
}

/** A client that does not read its answer is closed. */
const READ_WITHIN_MS = 1_000
const PLAIN_HERE = 'this port speaks HTTPS: use https://'

/** Explains to a client with plain HTTP that the port speaks HTTPS. */
function refusePlain(raw: Socket): void {
  raw.resume()
  raw.end(printRefusal(PLAIN_HERE))
  const late = setTimeout(() => raw.destroy(), READ_WITHIN_MS)
  raw.once('close', () => clearTimeout(late))
}
