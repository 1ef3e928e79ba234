import type { Socket } from 'node:net'
import type {
  Address,
  ClientList,
  EndpointReport,
  EndpointSpec,
  HoldResult,
  MissingAddress,
  SwitchResult,
  TakenScripts,
} from '@fairlead/api/of-proxies'
import type { Connection, Visitor } from '../connection/connection.ts'
import { createConnection } from '../connection/create-connection.ts'
import { dropConnection, endConnection } from '../connection/end-connection.ts'
import { judgeLogin } from '../connection/judge-login.ts'
import { steerLink, watchUnreadReplies } from '../connection/steer-client.ts'
import {
  endIfDone,
  forwardStash,
  isDrained,
  setRequestsAside,
  takeRequests,
} from '../forwarding/forward-requests.ts'
import { beginTurn, createAllowance, endTurn, runInSlice } from '../forwarding/turns.ts'
import type { CursorGenerations } from '../handover/cursor-generations.ts'
import { drainOf } from '../handover/hold.ts'
import { noQuiescence, notBegun, type Quiescence, withCut } from '../handover/long-requests.ts'
import { beginPiece, crumbOf, endPiece } from '../heartbeat/breadcrumb.ts'
import { addressText, remoteAddress } from '../listen/address-text.ts'
import { type Admission, createAdmission, createShare, type Share } from '../listen/admission.ts'
import { nextClientId } from '../listen/client-ids.ts'
import type { Cut } from '../listen/cut-log.ts'
import { type ClientQuery, listClients, viasOf } from '../listen/list-clients.ts'
import { type Admitted, listen, rejectConnection } from '../listen/listen.ts'
import type { Others } from '../listen/others.ts'
import { inSpec, type Places } from '../listen/places.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { createKnownScripts } from '../remembered/known-scripts.ts'
import type { Peers } from '../remembered/peers.ts'
import { type Count, createCount } from '../traffic/count-traffic.ts'
import type { TapePart } from '../traffic/recording.ts'
import { createOwnPeers, withOthers } from './create-peers.ts'
import { createUpstream, type Upstream } from './upstream.ts'

/** One address for the clients of a database, and their connections. */
export interface Endpoint extends AsyncDisposable {
  /** Spec of the endpoint, with its present upstreams and places. */
  readonly wanted: EndpointSpec
  /**
   * Listens at exactly these places. Returns where it cannot listen. Clients that came to another one are
   * closed within some seconds, between two requests if possible.
   */
  listenAt(places: Places): Promise<readonly MissingAddress[]>
  /** Closes clients of `default` gradually that signed in with a password that has none of these digests. */
  endLogins(valid: readonly string[]): void
  /** Sets the shards' addresses. A sharded endpoint follows a moved slot only to one of these. */
  know(addresses: readonly Address[]): void
  /** Opens links to an engine that will get the role, for the connections in use. Returns their number. */
  prepare(upstream: EndpointSpec['upstream'], slot?: number): Promise<number>
  /** Returns blocking commands that may be ended before a hold, as `proxy end of the link`. */
  blocked(slot?: number): readonly string[]
  /** Waits before a hold for pending long requests. Returns the number left: above 0 the hold has failed. */
  calm(withinMs: number, slot?: number): Promise<Quiescence>
  /** Stops forwarding and waits for all replies. `slot`: only for the group with that slot. */
  hold(times: HoldTimes): Promise<HoldResult>
  /**
   * Moves all connections, or those of the group of `slot`, to `upstream`, and releases clients there. Throws
   * a Refusal if replies are late. `generation`: of the new engine's cursors.
   */
  switchTo(
    upstream: EndpointSpec['upstream'],
    slot?: number,
    others?: Others,
    generation?: number,
  ): Promise<SwitchResult>
  /** Returns the scripts that this engine does not have yet, or all. */
  takeScripts(engine: EndpointSpec['upstream'], all: boolean): TakenScripts
  /** Called when clients of another thread have flushed the scripts. */
  forgetScripts(): void
  /** Ends the hold: clients continue at the old engine. `hasFailed`: counts it as a failed hold. */
  release(slot?: number, hasFailed?: boolean): void
  /** True if all groups are held, or the group of `slot`. */
  isHeld(slot?: number): boolean
  /** Returns the counts around the last handover (of the group of `slot`); null if none was recent. */
  readTape(slot?: number): TapePart | null
  report(): EndpointView
  clients(query: ClientQuery): ClientList
  /** The clients of this thread, for CLIENT LIST and CLIENT KILL. */
  readonly peers: Peers
}

/** Limits of a hold in ms. `slot`: only for the group of a sharded database that has it. */
export interface HoldTimes {
  readonly deadlineMs: number
  readonly drainMs?: number
  /** Longest wait for long requests before the hold. Default: as long as for replies. 0: no wait. */
  readonly calmMs?: number
  /** True if the role has already moved: stalled long requests are not waited for. */
  readonly leavesSilent?: boolean
  readonly slot?: number
}

/** State of an open endpoint. Held: some of its clients are. */
export type EndpointView = Omit<EndpointReport, 'id' | 'state' | 'why' | 'missing'> & {
  readonly isHeld: boolean
  readonly traffic: Count & { readonly since: number }
}

/** Options of an endpoint. */
export interface EndpointOptions {
  /** Name of the database in logs and reports. Default: its address. */
  readonly name?: string
  readonly reusePort?: boolean
  readonly admission?: Admission
  /** Generations of the cursors that clients get. */
  readonly generations?: CursorGenerations
  /** Limit of kept script bytes, and a listener for script flushes of clients. */
  readonly scripts?: Parameters<typeof createKnownScripts>[0]
  /** Called for each client that is closed, refused or fails. */
  readonly onCut?: (cut: Cut) => void
  /** Switches a group that engines report at `upstream`, in all threads. Default: only in this thread. */
  /** Clients of this endpoint in other threads. */
  readonly others?: Peers
  readonly moveGroup?: (upstream: EndpointSpec['upstream'], slot: number) => Promise<unknown>
}

/** After a client has closed its side: time without a reply after which its connection is dropped. */
export const LINGER_MS = 60_000
/** Reason for dropping a client that had closed its side, for logs and reports. */
export const LINGERED = 'its shard did not reply in time after the client had closed its side'
/** Reason for refusing a new connection, for logs and reports. */
export const TOO_MANY = 'the process has reached its limit of connections'

/** Serves a database of one group. Throws if it cannot listen. `reusePort`: listeners may share the port. */
export async function openEndpoint(wanted: EndpointSpec, options: EndpointOptions = {}): Promise<Endpoint> {
  const { reusePort = false, admission = createAdmission(), onCut = () => undefined, generations } = options
  const { name = addressText(wanted) } = options
  const [count, since] = [createCount(), Date.now()]
  const share = createShare(admission, addressText(wanted))
  const scripts = createKnownScripts(options.scripts)
  const allowance = createAllowance()
  const ownPeers = createOwnPeers({
    clients: () => clientsIn(upstream.connections),
    allowance,
    end: ({ connections: [connection] }, why) => connection && endConnection(connection, undefined, why),
  })
  const events = {
    count,
    scripts,
    admission,
    allowance,
    peers: withOthers(ownPeers, options.others),
    onClosed: ({ visitor }: Connection) => {
      share.leave(1)
      admission.strangers.remove(visitor)
    },
    onLogin: ({ visitor }: Connection) => admission.strangers.signIn(visitor),
    onCut: (connection: Connection) => onCut(noteCut(connection)),
  }
  const upstream: Upstream = createUpstream(wanted.upstream, wanted.upstreamTls, events, generations)
  const refuse = (socket: Socket, why: string) => onCut({ client: remoteAddress(socket), via: [], why })

  const admit = (socket: Socket) => admitClient(socket, { wanted, name, upstream, share, admission, refuse })
  const clients = () => [...upstream.connections].map(admittedOf)
  const listenOptions = { reusePort, share, strangers: admission.strangers, clients }
  const listener = await listen(wanted, listenOptions, admit, refuse)
  return {
    get wanted() {
      return { ...wanted, ...inSpec(listener.places), upstream: upstream.address }
    },
    listenAt: listener.listenAt,
    endLogins: listener.endLogins,
    // An endpoint of one group follows no redirects.
    know: () => undefined,
    prepare: upstream.prepare,
    takeScripts: (engine, all) => scripts.take(addressText(engine), all),
    forgetScripts: scripts.forget,
    blocked: upstream.blocked,
    calm: upstream.calm,
    async hold(times) {
      const calm =
        times.leavesSilent === true ? noQuiescence : await upstream.calm(times.calmMs ?? drainOf(times))
      return calm.long > 0 ? notBegun(calm) : withCut(await upstream.hold(times), calm)
    },
    peers: ownPeers,
    switchTo: (address, _, others, generation) => upstream.switchTo(address, others, generation),
    release: (_, hasFailed) => upstream.release(hasFailed),
    isHeld: () => upstream.isHeld,
    readTape: upstream.tape.read,
    clients: (query) => listClients(clientsIn(upstream.connections), query),
    report: () => ({
      host: wanted.host,
      port: listener.places.port,
      former: [...listener.former()],
      upstream: upstream.address,
      shards: null,
      isHeld: upstream.isHeld,
      connections: upstream.connections.size,
      commands: count.commands,
      traffic: { ...count, since },
      behind: [...upstream.behind],
      ...upstream.seen,
    }),
    async [Symbol.asyncDispose]() {
      upstream[Symbol.dispose]()
      share[Symbol.dispose]()
      await listener[Symbol.asyncDispose]()
    },
  }
}

/** Accepts a new client; refuses it if the process has reached its limit of connections. */
function admitClient(
  socket: Socket,
  {
    wanted,
    name,
    upstream,
    share,
    admission,
    refuse,
  }: {
    readonly wanted: EndpointSpec
    /** Name of the database in logs and reports. */
    readonly name: string
    readonly upstream: Upstream
    readonly share: Share
    readonly admission: Admission
    readonly refuse: (socket: Socket, why: string) => void
  },
): void {
  if (!share.take(1)) {
    upstream.owner.onError(TOO_MANY)
    refuse(socket, TOO_MANY)
    rejectConnection(socket)
    return
  }
  const visitor = visitorOf(socket, name)
  beginPiece('takes a new client', visitor.crumb)
  const connection = createConnection(socket, visitor, upstream.owner)
  if (upstream.owner.logins.asked !== false)
    admission.strangers.add(visitor, {
      endpoint: addressText(wanted),
      source: socket.remoteAddress ?? '',
      judge: () => judgeLogin(connection),
      cut: (why) => endConnection(connection, why),
    })
  listenTo(connection, socket)
  upstream.add(connection)
  endPiece()
}

function admittedOf(connection: Connection): Admitted {
  return {
    socket: connection.client,
    login: () => connection.session.state.login,
    isIdle: () => connection.input.stash.length === 0 && isDrained(connection),
    close: (why) => endConnection(connection, undefined, why),
  }
}

/** Counts the cut in the tape and describes it. */
function noteCut(connection: Connection): Cut {
  connection.owner.tape.noteCut()
  return {
    client: connection.visitor.address,
    via: viasOf([connection]),
    why: connection.cutBecause,
  }
}

function* clientsIn(connections: ReadonlySet<Connection>) {
  for (const connection of connections)
    yield {
      visitor: connection.visitor,
      socket: connection.client,
      requests: connection.input.requests,
      connections: [connection],
      state: connection.session.state,
    }
}

function listenTo(connection: Connection, client: Socket): void {
  const { crumb } = connection.visitor
  const { allowance } = connection.owner
  client.on('data', (chunk) => {
    if (!beginTurn(allowance, 'takes requests of', crumb, chunk.length)) {
      setRequestsAside(connection, chunk)
      return
    }
    takeRequests(connection, chunk)
    endTurn(allowance)
  })
  client.on('pause', () => watchUnreadReplies(connection))
  client.on('drain', () => {
    beginPiece('takes requests again of', crumb)
    steerLink(connection)
    forwardStash(connection)
    endPiece()
  })
  /** Thousands of clients may leave at the same time. */
  const leaves = (act: () => void) => {
    if (connection.mode !== 'closed') runInSlice(allowance, 'ends the connection of', crumb, act)
  }
  client.on('end', () =>
    leaves(() => {
      connection.input.clientEnded = true
      // A subscriber that has left sends and receives nothing: only this check notices it.
      const isListening = isSubscribed(connection.session.state) && connection.input.stash.length === 0
      if (isListening && isDrained(connection)) dropConnection(connection)
      else endIfDone(connection)
      client.setTimeout(LINGER_MS, () => dropConnection(connection, LINGERED))
    }),
  )
  client.on('error', (cause) => leaves(() => dropConnection(connection, troubleOf(cause))))
  client.on('close', () => leaves(() => dropConnection(connection)))
}

/** Describes the client of a new socket of database `name`. */
export function visitorOf(socket: Socket, name: string): Visitor {
  const address = remoteAddress(socket)
  return { id: nextClientId(), address, sinceMs: Date.now(), crumb: crumbOf(`${address} at ${name}`) }
}

/** Returns why a client's socket failed; undefined if the client closed or reset it. */
export function troubleOf({ code, message }: NodeJS.ErrnoException): string | undefined {
  return code === 'ECONNRESET' || code === 'EPIPE' ? undefined : message
}
