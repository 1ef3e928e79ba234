import type { Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { type EndpointSpec, Refusal } from '@fairlead/api/of-proxies'
import { awaitHello, createTlsDoor, messageOf, tlsForClients } from '@fairlead/engine'
import { addressText } from './address-text.ts'
import type { Share } from './admission.ts'
import { type Doors, ofSockets, openDoors } from './doors.ts'
import type { Strangers } from './strangers.ts'

type Tls = NonNullable<EndpointSpec['tls']>

/** One port and its clients. The owner closes admitted clients first, and then disposes of it. */
export interface Listener extends Doors {
  /** New clients get this certificate; present ones stay connected. No effect without TLS. */
  renewTls(tls: Tls): void
}

/** Admission of clients, and the clients without login. */
interface ConnectionSlots {
  readonly share: Share
  readonly strangers: Strangers
}

/** Serves a client. */
type Admit = (socket: Socket) => void

interface Handshaking extends ConnectionSlots {
  readonly wanted: EndpointSpec
  readonly admit: Admit
  readonly onStranger: (socket: Socket, why: string) => void
}

/** A client whose handshake takes longer is closed. */
const HANDSHAKE_MS = 5_000

/**
 * Listens for clients; throws if it cannot. `reusePort`: listeners may share the port. `onStranger`: called
 * for clients that fail the TLS handshake.
 */
export async function listen(
  wanted: EndpointSpec,
  options: ConnectionSlots & { readonly reusePort: boolean },
  admit: Admit,
  onStranger: (socket: Socket, why: string) => void,
): Promise<Listener> {
  const tlsServer =
    wanted.tls === null
      ? null
      : createTlsServer({ ...ofSockets, ...tlsForClients(wanted.tls), handshakeTimeout: HANDSHAKE_MS })
  const strangers = new Set<Socket>()
  const accept =
    tlsServer === null
      ? admit
      : watchHandshakes(tlsServer, strangers, { ...options, wanted, admit, onStranger })
  const doors = await openDoors(wanted, options.reusePort, accept)
  return {
    renewTls: (tls) => tlsServer?.setSecureContext(tlsForClients(tls)),
    listenAlso: doors.listenAlso,
    async [Symbol.asyncDispose]() {
      for (const socket of strangers) socket.destroy()
      await doors[Symbol.asyncDispose]()
    },
  }
}

/** Throws a Refusal if this certificate cannot be used. Its text reveals nothing about the key. */
export function checkTls(tls: Tls): void {
  try {
    createSecureContext(tlsForClients(tls))
  } catch (cause) {
    const why = messageOf(cause)
    throw new Refusal('unavailable', `the certificate and its key cannot be used: ${why}`, { cause })
  }
}

/**
 * Accepts a client. Its handshake begins when its first message is complete. `strangers`: clients in the
 * handshake.
 */
function watchHandshakes(
  server: TlsServer,
  strangers: Set<Socket>,
  { wanted, share, strangers: unknown, admit, onStranger }: Handshaking,
): (socket: Socket) => void {
  const endpoint = addressText(wanted)
  const door = createTlsDoor(server)
  const passed = (socket: Socket) => {
    if (!strangers.delete(socket)) return
    unknown.remove(socket)
    share.leave(1)
  }
  const tell = tellOnce(onStranger)
  const close = (socket: Socket, why: string) => {
    tell(socket, why)
    socket.destroy()
  }
  const begin = (socket: Socket, source: string) =>
    door.begin(socket, source, {
      secured(secured) {
        if (!strangers.has(socket)) return void secured.destroy()
        passed(socket)
        admit(secured)
      },
      failed: (cause) => tell(socket, `TLS: ${cause.message}`),
    })
  return (socket) => {
    if (!share.take(1)) return void socket.destroy()
    strangers.add(socket)
    const source = socket.remoteAddress ?? ''
    const cut = () => {
      passed(socket)
      socket.destroy()
    }
    unknown.add(socket, { endpoint, source, judge: () => 'unknown', cut })
    const late = () => (strangers.has(socket) ? close(socket, 'TLS: TLS handshake timeout') : undefined)
    const timer = setTimeout(late, HANDSHAKE_MS).unref()
    socket.once('close', () => {
      clearTimeout(timer)
      passed(socket)
    })
    // TLS reports handshake errors.
    socket.on('error', () => undefined)
    // Bytes that are not TLS go to TLS, too: its error says what is wrong.
    const come = () => stop(() => begin(socket, `${endpoint} ${source}`))
    const stop = awaitHello(socket, { come, plain: come, refused: (why) => close(socket, why) })
  }
}

/** Reports only the first reason for each client: TLS fails afterwards in any case. */
function tellOnce(tell: Handshaking['onStranger']): Handshaking['onStranger'] {
  const told = new WeakSet<Socket>()
  return (socket, why) => {
    if (!told.has(socket)) tell(socket, why)
    told.add(socket)
  }
}

/** Sends the error to a client beyond the limit, and closes it. */
export function rejectConnection(socket: Socket): void {
  socket
    .on('error', () => undefined)
    .end('-ERR max number of clients reached\r\n')
    .destroySoon()
}
