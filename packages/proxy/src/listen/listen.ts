import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { type EndpointSpec, Refusal } from '@fairlead/api/of-proxies'
import {
  awaitHello,
  createHandshakeQueue,
  createTlsDoor,
  createTlsGuard,
  HANDSHAKES_AT_ONCE,
  messageOf,
  tlsForClients,
} from '@fairlead/engine'
import { addressText } from './address-text.ts'
import type { Share } from './admission.ts'
import type { Strangers } from './strangers.ts'

type Tls = NonNullable<EndpointSpec['tls']>

/** One port, and its clients. Its owner closes the admitted clients first, and then disposes of it. */
export interface Listener extends AsyncDisposable {
  /** New clients are shown this certificate; present ones stay connected. No effect without TLS. */
  renewTls(tls: Tls): void
}

/** Of all endpoints of this thread. */
const guard = createTlsGuard()

/** The admission of clients, and the clients that have not signed in. */
interface Places {
  readonly share: Share
  readonly strangers: Strangers
}

/** Serves a client. Returns by what it is among the strangers, until it has signed in. */
type Admit = (socket: Socket) => object | undefined

interface Handshaking extends Places {
  readonly wanted: EndpointSpec
  readonly admit: Admit
  readonly onStranger: (socket: Socket, why: string) => void
}

const BACKLOG = 4_096
/** A client that has not finished the handshake within this time is closed. */
const HANDSHAKE_MS = 5_000
/** Of all endpoints of this thread. */
const handshakes = createHandshakeQueue({ atOnce: HANDSHAKES_AT_ONCE, isKnown: guard.crowds.isKnown })

/**
 * Listens for the clients of an endpoint. Throws when it cannot. `reusePort`: several listeners may share the port.
 * `onStranger` is called for clients that do not speak TLS although the endpoint does.
 */
export async function listen(
  wanted: EndpointSpec,
  options: Places & { readonly reusePort: boolean },
  admit: Admit,
  onStranger: (socket: Socket, why: string) => void,
): Promise<Listener> {
  const ofSockets = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 300_000 }
  const tlsServer =
    wanted.tls === null
      ? null
      : createTlsServer({ ...ofSockets, ...tlsForClients(wanted.tls), handshakeTimeout: HANDSHAKE_MS })
  const strangers = new Set<Socket>()
  const server = createServer(
    ofSockets,
    tlsServer === null
      ? admit
      : watchHandshakes(tlsServer, strangers, { ...options, wanted, admit, onStranger }),
  )
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(
    { host: wanted.host, port: wanted.port, backlog: BACKLOG, reusePort: options.reusePort },
    () => resolve(),
  )
  await promise
  server.off('error', reject)
  server.on('error', () => undefined)
  return {
    renewTls: (tls) => tlsServer?.setSecureContext(tlsForClients(tls)),
    async [Symbol.asyncDispose]() {
      for (const socket of strangers) socket.destroy()
      await closeServer(server)
    },
  }
}

/** Throws a refusal that says why this certificate cannot be shown. It says nothing about the key. */
export function checkTls(tls: Tls): void {
  try {
    createSecureContext(tlsForClients(tls))
  } catch (cause) {
    const why = messageOf(cause)
    throw new Refusal('unavailable', `the certificate and its key cannot be used: ${why}`, { cause })
  }
}

/**
 * Takes a client that has connected: its handshake begins when it has said something and it is its turn. `strangers` are those that have not
 * finished theirs: they take a file each, and only this closes them.
 */
function watchHandshakes(
  server: TlsServer,
  strangers: Set<Socket>,
  { wanted, share, strangers: unknown, admit, onStranger }: Handshaking,
): (socket: Socket) => void {
  const endpoint = addressText(wanted)
  const door = createTlsDoor(server, guard)
  const passed = (socket: Socket) => {
    if (!strangers.delete(socket)) return
    handshakes.end(socket)
    unknown.remove(socket)
    share.leave(1)
  }
  const tell = tellOnce(onStranger)
  const close = (socket: Socket, why: string) => {
    tell(socket, why)
    socket.destroy()
  }
  const begin = (socket: Socket, source: string) =>
    door.begin(socket, {
      ...{ source, cut: close },
      secured(secured) {
        if (!strangers.has(socket)) return void secured.destroy()
        passed(socket)
        const key = admit(secured)
        const isUnknown = () => key !== undefined && unknown.has(key)
        door.admit(socket, secured, () => secured.bytesRead === 0 || isUnknown())
        if (key !== undefined) unknown.whenIn(key, () => door.know(socket))
      },
      // Node reports clients that were too slow, but leaves them connected.
      failed(cause, secured) {
        tell(socket, `TLS: ${cause.message}`)
        secured.destroy()
      },
    })
  return (socket) => {
    if (!share.take(1)) return void socket.destroy()
    strangers.add(socket)
    const address = socket.remoteAddress ?? ''
    const source = `${endpoint} ${address}`
    const cut = () => {
      passed(socket)
      socket.destroy()
    }
    unknown.add(socket, { endpoint, source: address, judge: () => 'unknown', cut })
    const late = () => (strangers.has(socket) ? close(socket, 'TLS: TLS handshake timeout') : undefined)
    const timer = setTimeout(late, HANDSHAKE_MS).unref()
    socket.once('close', () => {
      clearTimeout(timer)
      passed(socket)
    })
    // What goes wrong in its handshake, TLS tells.
    socket.on('error', () => undefined)
    awaitTurn(socket, source, begin, close)
  }
}

/**
 * Calls `begin` when the first message of the client is complete and it is the client's turn; `close` if what comes cannot be a first message. Bytes that are no TLS at all go to TLS,
 * whose error says what is wrong.
 */
function awaitTurn(
  socket: Socket,
  source: string,
  begin: (socket: Socket, source: string) => void,
  close: (socket: Socket, why: string) => void,
): void {
  const come = () => handshakes.add(socket, source, () => stop(() => begin(socket, source)))
  const stop = awaitHello(socket, { come, plain: come, refused: (why) => close(socket, why) })
}

/** Of each client one reason is told: that TLS fails then, too, says nothing more. */
function tellOnce(tell: Handshaking['onStranger']): Handshaking['onStranger'] {
  const told = new WeakSet<Socket>()
  return (socket, why) => {
    if (!told.has(socket)) tell(socket, why)
    told.add(socket)
  }
}

/** Sends the error to a client beyond the limit, and closes it. */
export function turnAway(socket: Socket): void {
  socket
    .on('error', () => undefined)
    .end('-ERR max number of clients reached\r\n')
    .destroySoon()
}

async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  await promise
}
