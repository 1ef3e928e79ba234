import type { Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { type EndpointSpec, type FormerUse, type MissingAddress, Refusal } from '@fairlead/api/of-proxies'
import {
  awaitHello,
  createTlsDoor,
  messageOf,
  passwordDigest,
  type TlsDoor,
  tlsForClients,
} from '@fairlead/engine'
import { addressText } from './address-text.ts'
import type { Share } from './admission.ts'
import { type Closable, closeGradually } from './close-gradually.ts'
import { ofSockets, openDoors } from './doors.ts'
import {
  certificateOf,
  formerIn,
  isServed,
  type Place,
  type Places,
  placeKey,
  placeOf,
  placesIn,
  placesOf,
  portsOf,
} from './places.ts'
import type { Strangers } from './strangers.ts'

type Tls = NonNullable<EndpointSpec['tls']>

/** The places of an endpoint. The owner closes admitted clients first, and then disposes of it. */
export interface Listener extends AsyncDisposable {
  readonly places: Places
  /**
   * Listens at exactly these places; a new certificate is for new clients. Returns where it cannot listen.
   * Clients that came to another place are closed gradually.
   */
  listenAt(places: Places): Promise<readonly MissingAddress[]>
  /** Closes clients of `default` gradually that signed in with a password that has none of these digests. */
  endLogins(valid: readonly string[]): void
  /** Returns the use of the former places. */
  former(): readonly FormerUse[]
}

/** An admitted client. */
export interface Admitted extends Closable {
  readonly socket: Pick<Socket, 'localPort'>
  /** Arguments of the AUTH that signs it in; null: it has not signed in. */
  login(): readonly Buffer[] | null
}

/** Admission of clients, and the clients without login. */
interface ConnectionSlots {
  readonly share: Share
  readonly strangers: Strangers
}

/** Serves a client. */
type Admit = (socket: Socket) => void

interface Handshaking extends ConnectionSlots {
  readonly endpoint: string
  readonly admit: Admit
  readonly onStranger: (socket: Socket, why: string) => void
}

/** Reason for closing a client, for logs and reports. */
export const PLACE_ENDED = 'the former address of the database has ended'
/** Reason for closing a client, for logs and reports. */
export const PASSWORD_ENDED = 'its password is no longer valid'
/** A client whose handshake takes longer is closed. */
const HANDSHAKE_MS = 5_000

/**
 * Listens at the endpoint's port; throws if it cannot. `reusePort`: listeners may share the port.
 * `onStranger`: called for clients that fail the TLS handshake.
 */
export async function listen(
  wanted: EndpointSpec,
  options: ConnectionSlots & { readonly reusePort: boolean; readonly clients: () => Iterable<Admitted> },
  admit: Admit,
  onStranger: (socket: Socket, why: string) => void,
): Promise<Listener> {
  let places = placesOf(wanted)
  const uses = createUses()
  const admitCounted = (socket: Socket) => {
    if (places.former.length > 0) uses.note(placeOf(socket))
    admit(socket)
  }
  const endpoint = addressText(wanted)
  const handshakes = createHandshakes({ ...options, endpoint, admit: admitCounted, onStranger })
  handshakes.renew(certificateOf(places))
  const doors = await openDoors(wanted, options.reusePort, (socket, port) => {
    const speaksPlain = isServed(places, { port, tls: false })
    if (isServed(places, { port, tls: true })) handshakes.begin(socket, speaksPlain)
    else admitCounted(socket)
  })
  const closing = new Set<Disposable>()
  return {
    get places() {
      return places
    },
    async listenAt(next) {
      const hasEnded = !placesIn(places).every((place) => isServed(next, place))
      handshakes.renew(certificateOf(next))
      places = next
      uses.keep(next)
      const missing = await doors.listenAt([next.host, ...next.also], portsOf(next))
      if (hasEnded) {
        const ended = [...options.clients()].filter(({ socket }) => !isServed(places, placeOf(socket)))
        closing.add(closeGradually(ended, PLACE_ENDED))
      }
      return missing
    },
    endLogins(valid) {
      const ended = [...options.clients()].filter((client) => usesOther(client.login(), valid))
      closing.add(closeGradually(ended, PASSWORD_ENDED))
    },
    former: () => (places.former.length === 0 ? [] : uses.count(places, options.clients())),
    async [Symbol.asyncDispose]() {
      for (const one of closing) one[Symbol.dispose]()
      handshakes.end()
      await doors[Symbol.asyncDispose]()
    },
  }
}

/** True for a login of `default` with another password. */
function usesOther(login: readonly Buffer[] | null, valid: readonly string[]): boolean {
  const [password, user] = login?.toReversed() ?? []
  if (password === undefined || (user !== undefined && user.toString() !== 'default')) return false
  return !valid.includes(passwordDigest(password))
}

/** Notes when former places were used last. */
function createUses() {
  const lastUsed = new Map<string, number>()
  const note = (place: Place) => lastUsed.set(placeKey(place), performance.now())
  return {
    note,
    keep(places: Places): void {
      const kept = formerIn(places)
      const keys = kept.map(placeKey)
      for (const key of lastUsed.keys()) if (!keys.includes(key)) lastUsed.delete(key)
      for (const place of kept) if (!lastUsed.has(placeKey(place))) note(place)
    },
    count(places: Places, clients: Iterable<Admitted>): readonly FormerUse[] {
      const counts = new Map<string, number>()
      for (const { socket } of clients) {
        const key = placeKey(placeOf(socket))
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
      return formerIn(places).map((place) => {
        const connections = counts.get(placeKey(place)) ?? 0
        if (connections > 0) note(place)
        const quietMs = performance.now() - (lastUsed.get(placeKey(place)) ?? performance.now())
        return { ...place, connections, quietMs }
      })
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

/** Clients in the handshake, which begins when their first message is complete. */
function createHandshakes({ endpoint, share, strangers: unknown, admit, onStranger }: Handshaking) {
  let tlsServer: TlsServer | null = null
  let door: TlsDoor | null = null
  const strangers = new Set<Socket>()
  let shown: Tls | null = null
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
  const secure = (socket: Socket, source: string) =>
    door?.begin(socket, source, {
      secured(secured) {
        if (!strangers.has(socket)) return void secured.destroy()
        passed(socket)
        admit(secured)
      },
      failed: (cause) => tell(socket, `TLS: ${cause.message}`),
    })
  const serveWithout = (socket: Socket) => {
    if (!strangers.has(socket)) return
    passed(socket)
    admit(socket)
  }
  return {
    /** Shows this certificate to new clients; null: none will come. */
    renew(tls: Tls | null): void {
      if (tls === null || (tls.cert === shown?.cert && tls.key === shown.key)) return
      const options = tlsForClients(tls)
      tlsServer?.setSecureContext(options)
      tlsServer ??= createTlsServer({ ...ofSockets, ...options, handshakeTimeout: HANDSHAKE_MS })
      door ??= createTlsDoor(tlsServer)
      shown = tls
    },

    /** Waits for the client's first bytes. `speaksPlain`: it may go on without TLS. */
    begin(socket: Socket, speaksPlain: boolean): void {
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
      const come = () => stop(() => secure(socket, `${endpoint} ${source}`))
      // Bytes that are not TLS go to TLS, too: its error says what is wrong.
      const plain = speaksPlain ? () => stop(() => serveWithout(socket)) : come
      const stop = awaitHello(socket, { come, plain, refused: (why) => close(socket, why) })
    },

    end(): void {
      for (const socket of strangers) socket.destroy()
    },
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
