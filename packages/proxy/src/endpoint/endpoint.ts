import type { Socket } from 'node:net'
import type {
  Address,
  ClientList,
  EndpointReport,
  EndpointSpec,
  HoldResult,
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
import { beginTurn, createAllowance, endTurn, whenItsTurn } from '../forwarding/turns.ts'
import type { CursorGenerations } from '../handover/cursor-generations.ts'
import { drainOf } from '../handover/hold.ts'
import { type Calm, noCalm, notBegun, withCut } from '../handover/long-requests.ts'
import { beginPiece, crumbOf, endPiece } from '../heartbeat/breadcrumb.ts'
import { addressText, remoteAddress } from '../listen/address-text.ts'
import { type Admission, createAdmission, createShare, type Share } from '../listen/admission.ts'
import type { Cut } from '../listen/cut-log.ts'
import { type ClientQuery, listClients, viasOf } from '../listen/list-clients.ts'
import { type Listener, listen, turnAway } from '../listen/listen.ts'
import type { Others } from '../listen/others.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { createKnownScripts } from '../remembered/known-scripts.ts'
import { type Count, createCount } from '../traffic/count-traffic.ts'
import type { TapePart } from '../traffic/recording.ts'
import { createUpstream, type Upstream } from './upstream.ts'

/** One address for the clients of a database, and the connections that came there. */
export interface Endpoint extends AsyncDisposable, Pick<Listener, 'renewTls'> {
  /** The endpoint's spec, with the upstreams that it has now. */
  readonly wanted: EndpointSpec
  /** The present addresses of the database's shards. A sharded endpoint follows a slot that has moved only to one of these. */
  know(addresses: readonly Address[]): void
  /** Opens links at an engine that is about to have the role, for the connections in use. Answers how many. */
  prepare(upstream: EndpointSpec['upstream'], slot?: number): Promise<number>
  /** Blocking commands that may be ended before a hold (given-up.ts), by the proxy's end of their connections to shards. */
  blocked(slot?: number): readonly string[]
  /**
   * Waits, before the hold, until no long request is under way. Returns how many still are: then a hold has
   * failed.
   */
  calm(withinMs: number, slot?: number): Promise<Calm>
  /** After that, stops forwarding and waits until all replies have arrived. `slot`: only for the group that holds it. */
  hold(times: HoldTimes): Promise<HoldResult>
  /**
   * Moves all connections, or those to the group of `slot`, to `upstream`, and releases clients there. Throws a refusal if commands
   * are not answered in time. `generation`: of the cursors that the new engine gives.
   */
  switchTo(
    upstream: EndpointSpec['upstream'],
    slot?: number,
    others?: Others,
    generation?: number,
  ): Promise<SwitchResult>
  /** The scripts that clients have loaded and that this engine has not been told of yet, or all scripts. */
  takeScripts(engine: EndpointSpec['upstream'], all: boolean): TakenScripts
  /** Clients of another thread have flushed the scripts. */
  forgetScripts(): void
  /** Ends the hold without a switch: clients go on at the old engine. `hasFailed`: it counts as a hold that failed. */
  release(slot?: number, hasFailed?: boolean): void
  /** Whether all groups are held, or only the group that has this slot. */
  isHeld(slot?: number): boolean
  /** What was counted around the last handover, or around that of the group of `slot`; null: there was none lately. */
  readTape(slot?: number): TapePart | null
  report(): EndpointView
  clients(query: ClientQuery): ClientList
}

/** How long a hold may take, in milliseconds; `slot`: of a sharded database only the group that has it. */
export interface HoldTimes {
  readonly deadlineMs: number
  readonly drainMs?: number
  /** How long it waits for long requests before it holds any client; default: as long as for replies. 0: no wait. */
  readonly calmMs?: number
  /** The role has moved already: clients that stop in the middle of a long request are not waited for, neither before the hold nor in it. */
  readonly leavesSilent?: boolean
  readonly slot?: number
}

/** The state of an open endpoint; held means that some of its clients are. */
export type EndpointView = Omit<EndpointReport, 'id' | 'state' | 'why'> & {
  readonly isHeld: boolean
  readonly traffic: Count & { readonly since: number }
}

/** Options of an endpoint. */
export interface EndpointOptions {
  /** The name of its database in logs and reports; default: its address. */
  readonly name?: string
  readonly reusePort?: boolean
  readonly admission?: Admission
  /** The generations of the cursors that clients get. */
  readonly generations?: CursorGenerations
  /** How many bytes of clients' scripts are kept at most, and a listener for when a client has flushed them. */
  readonly scripts?: Parameters<typeof createKnownScripts>[0]
  /** Called for every client that is closed, refused or fails. */
  readonly onCut?: (cut: Cut) => void
  /**
   * Called when engines say that a group is at `upstream`. If given, this function switches it, here and in other threads; otherwise
   * it is switched here alone.
   */
  readonly moveGroup?: (upstream: EndpointSpec['upstream'], slot: number) => Promise<unknown>
}

/** After a client has closed its side: how long no reply may come before its connection is given up. */
export const LINGER_MS = 60_000
/** Why a connection was cut whose client had closed its side. For logs and reports. */
export const LINGERED = 'its shard did not reply in time after the client had closed its side'
/** Why a new connection was refused. For logs and reports. */
export const TOO_MANY = 'the process has reached its limit of connections'

/** Serves a database of one group. Throws when it cannot listen. `reusePort`: several listeners may share the port. */
export async function openEndpoint(wanted: EndpointSpec, options: EndpointOptions = {}): Promise<Endpoint> {
  const { reusePort = false, admission = createAdmission(), onCut = () => undefined, generations } = options
  const { name = addressText(wanted) } = options
  const [count, since] = [createCount(), Date.now()]
  const share = createShare(admission, addressText(wanted))
  const scripts = createKnownScripts(options.scripts)
  const events = {
    ...{ count, scripts, admission, allowance: createAllowance() },
    onClosed: ({ visitor }: Connection) => {
      share.leave(1)
      admission.strangers.remove(visitor)
    },
    onLogin: ({ visitor }: Connection) => admission.strangers.signIn(visitor),
    onCut: (connection: Connection) => onCut(noteCut(connection)),
  }
  const upstream = createUpstream(wanted.upstream, wanted.upstreamTls, events, generations)
  const refuse = (socket: Socket, why: string) => onCut({ client: remoteAddress(socket), via: [], why })

  const admit = (socket: Socket) => admitClient(socket, { wanted, name, upstream, share, admission, refuse })
  const listener = await listen(wanted, { reusePort, share, strangers: admission.strangers }, admit, refuse)
  return {
    get wanted() {
      return { ...wanted, upstream: upstream.address }
    },
    // An endpoint of one group follows no redirect by itself.
    know: () => undefined,
    prepare: upstream.prepare,
    takeScripts: (engine, all) => scripts.take(addressText(engine), all),
    forgetScripts: scripts.forget,
    blocked: upstream.blocked,
    calm: upstream.calm,
    async hold(times) {
      const calm = times.leavesSilent === true ? noCalm : await upstream.calm(times.calmMs ?? drainOf(times))
      return calm.long > 0 ? notBegun(calm) : withCut(await upstream.hold(times), calm)
    },
    renewTls: listener.renewTls,
    switchTo: (address, _, others, generation) => upstream.switchTo(address, others, generation),
    release: (_, hasFailed) => upstream.release(hasFailed),
    isHeld: () => upstream.isHeld,
    readTape: upstream.tape.read,
    clients: (query) => listClients(presentIn(upstream.connections), query),
    report: () => ({
      host: wanted.host,
      port: wanted.port,
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

/** Takes a new client, or refuses it if the process has reached its limit of connections. */
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
    /** The name of the database in logs and reports. */
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
    turnAway(socket)
    return
  }
  const visitor = visitorOf(socket, name)
  beginPiece('takes a new client', visitor.crumb)
  const connection = createConnection(socket, visitor, upstream.owner)
  if (upstream.owner.logins.asked !== false)
    admission.strangers.add(visitor, {
      ...{ endpoint: addressText(wanted), source: socket.remoteAddress ?? '' },
      judge: () => judgeLogin(connection),
      cut: (why) => endConnection(connection, why),
    })
  listenTo(connection, socket)
  upstream.add(connection)
  endPiece()
}

/** Counts it in the tape, and describes it. */
function noteCut(connection: Connection): Cut {
  connection.owner.tape.noteCut()
  return {
    client: connection.visitor.address,
    via: viasOf([connection]),
    why: connection.cutBecause,
  }
}

function* presentIn(connections: ReadonlySet<Connection>) {
  for (const connection of connections)
    yield { visitor: connection.visitor, connections: [connection], state: connection.state }
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
  /** Thousands may leave at one moment. */
  const leaves = (act: () => void) => {
    if (connection.mode !== 'closed') whenItsTurn(allowance, 'ends the connection of', crumb, act)
  }
  client.on('end', () =>
    leaves(() => {
      connection.clientEnded = true
      // A subscriber that has gone sends nothing and gets nothing: only this notices it.
      const isListening = isSubscribed(connection.state) && connection.stash.length === 0
      if (isListening && isDrained(connection)) dropConnection(connection)
      else endIfDone(connection)
      client.setTimeout(LINGER_MS, () => dropConnection(connection, LINGERED))
    }),
  )
  client.on('error', (cause) => leaves(() => dropConnection(connection, troubleOf(cause))))
  client.on('close', () => leaves(() => dropConnection(connection)))
}

/** The client behind a socket that has just come to the database `name`. */
export function visitorOf(socket: Socket, name: string): Visitor {
  const address = remoteAddress(socket)
  return { address, sinceMs: Date.now(), crumb: crumbOf(`${address} at ${name}`) }
}

/** Why a client's socket has failed; undefined when the client itself has ended it, orderly or not. */
export function troubleOf({ code, message }: NodeJS.ErrnoException): string | undefined {
  return code === 'ECONNRESET' || code === 'EPIPE' ? undefined : message
}
