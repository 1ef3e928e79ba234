import type { Socket } from 'node:net'
import type {
  Address,
  ClientList,
  EndpointReport,
  EndpointSpec,
  HoldResult,
  SwitchResult,
  TakenScripts,
} from '@fairlead/api'
import type { Connection, Visitor } from '../connection/connection.ts'
import { createConnection } from '../connection/create-connection.ts'
import { dropConnection, endConnection } from '../connection/end-connection.ts'
import { judgeLogin } from '../connection/judge-login.ts'
import { steerLink } from '../connection/steer-client.ts'
import {
  endIfDone,
  forwardStash,
  isDrained,
  setRequestsAside,
  takeRequests,
} from '../forwarding/forward-requests.ts'
import { beginTurn, createAllowance, endTurn } from '../forwarding/turns.ts'
import type { CursorGenerations } from '../handover/cursor-generations.ts'
import { drainOf } from '../handover/hold.ts'
import { type Calm, notBegun, withCut } from '../handover/long-requests.ts'
import { beginPiece, crumbOf, endPiece } from '../heartbeat/breadcrumb.ts'
import { addressText, remoteAddress } from '../listen/address-text.ts'
import { type Admission, createAdmission, createShare, type Share } from '../listen/admission.ts'
import type { Cut } from '../listen/cut-log.ts'
import { type ClientQuery, listClients, viasOf } from '../listen/list-clients.ts'
import { type Listener, listen, turnAway } from '../listen/listen.ts'
import type { Others } from '../listen/others.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { createKnownScripts } from '../remembered/known-scripts.ts'
import { createUpstream, type Upstream } from './upstream.ts'

/** One address for the clients of a database, and the connections that came there. */
export interface Endpoint extends AsyncDisposable, Pick<Listener, 'renewTls'> {
  /** With the upstreams that it has now. */
  readonly wanted: EndpointSpec
  /** Where the shards of the database are now. Only there a sharded one follows a slot that has moved. */
  know(addresses: readonly Address[]): void
  /** Opens links at an engine that is about to have the role, for the connections in use. How many. */
  prepare(upstream: EndpointSpec['upstream'], slot?: number): Promise<number>
  /** Blocking commands that may be given up before a hold (given-up.ts), by our end of their connections to shards. */
  blocked(slot?: number): readonly string[]
  /**
   * Waits, before the hold, until no long request is under way. Returns how many still are: then a hold has
   * failed.
   */
  calm(withinMs: number, slot?: number): Promise<Calm>
  /** Once that is so, stops forwarding and waits until all replies are in. `slot`: only to the group that holds it. */
  hold(times: HoldTimes): Promise<HoldResult>
  /**
   * Moves everything, or what goes to the group of `slot`, to `upstream`, and lets clients go there. Throws a refusal if commands
   * are not answered in time. `generation`: of the cursors that are given there.
   */
  switchTo(
    upstream: EndpointSpec['upstream'],
    slot?: number,
    others?: Others,
    generation?: number,
  ): Promise<SwitchResult>
  /** The scripts that clients have given their engines and that this one has not been told of yet, or all. */
  takeScripts(engine: EndpointSpec['upstream'], all: boolean): TakenScripts
  /** Clients of another thread have flushed the scripts. */
  forgetScripts(): void
  /** Lets clients go where they were. `hasFailed`: it counts as a hold that failed. */
  release(slot?: number, hasFailed?: boolean): void
  report(): EndpointView
  clients(query: ClientQuery): ClientList
}

/** How long a hold may take, in milliseconds; `slot`: of a sharded database only the group that has it. */
export interface HoldTimes {
  readonly deadlineMs: number
  readonly drainMs?: number
  /** How long it waits for long requests before it holds any client; unless told, as long as for replies. 0: not again. */
  readonly calmMs?: number
  readonly slot?: number
}

/** The state of an open endpoint; held means that some of its clients are. */
export type EndpointView = Omit<EndpointReport, 'id' | 'state' | 'why'> & { readonly isHeld: boolean }

/** How an endpoint differs from the usual one: all of it may be left out. */
export interface EndpointOptions {
  /** How its database is called where it is told what the proxy does; its address unless told. */
  readonly name?: string
  readonly reusePort?: boolean
  readonly admission?: Admission
  /** For cursors that clients are given. */
  readonly generations?: CursorGenerations
  /** What is kept of clients' scripts at most, and a listener for when a client has flushed them. */
  readonly scripts?: Parameters<typeof createKnownScripts>[0]
  /** Hears of every client that is cut, refused or fails. */
  readonly onCut?: (cut: Cut) => void
  /**
   * A group is at `upstream`, as its engines say. If given, this switches it, here and in other threads; else
   * it is switched here alone.
   */
  readonly moveGroup?: (upstream: EndpointSpec['upstream'], slot: number) => Promise<unknown>
}

/** For a client that has closed its side: how long no reply may come before it is given up. */
export const LINGER_MS = 60_000
/** Why a connection was cut whose client had closed its side. For logs and reports. */
export const LINGERED = 'its shard did not reply in time after the client had closed its side'
/** Why a new connection was refused. For logs and reports. */
export const TOO_MANY = 'the process has reached its limit of connections'

/** Serves a database of one group. Throws when it cannot listen. `reusePort`: several listeners may share the port. */
export async function openEndpoint(wanted: EndpointSpec, options: EndpointOptions = {}): Promise<Endpoint> {
  const { reusePort = false, admission = createAdmission(), onCut = () => undefined, generations } = options
  const { name = addressText(wanted) } = options
  const count = { commands: 0 }
  const share = createShare(admission, addressText(wanted))
  const scripts = createKnownScripts(options.scripts)
  const events = {
    ...{ count, scripts, admission, allowance: createAllowance() },
    onClosed: ({ visitor }: Connection) => {
      share.leave(1)
      admission.strangers.remove(visitor)
    },
    onLogin: ({ visitor }: Connection) => admission.strangers.remove(visitor),
    onCut: (connection: Connection) => onCut(cutOf(connection)),
  }
  const upstream = createUpstream(wanted.upstream, wanted.upstreamTls, events, generations)
  const refuse = (socket: Socket, why: string) => onCut({ client: remoteAddress(socket), via: [], why })

  const admit = (socket: Socket) => admitClient(socket, { wanted, name, upstream, share, admission, refuse })
  const listener = await listen(wanted, { reusePort, share, strangers: admission.strangers }, admit, refuse)
  return {
    get wanted() {
      return { ...wanted, upstream: upstream.address }
    },
    // It follows no redirect by itself.
    know: () => undefined,
    prepare: upstream.prepare,
    takeScripts: (engine, all) => scripts.take(addressText(engine), all),
    forgetScripts: scripts.forget,
    blocked: upstream.blocked,
    calm: upstream.calm,
    async hold(times) {
      const calm = await upstream.calm(times.calmMs ?? drainOf(times))
      return calm.long > 0 ? notBegun(calm) : withCut(await upstream.hold(times), calm)
    },
    renewTls: listener.renewTls,
    switchTo: (address, _, others, generation) => upstream.switchTo(address, others, generation),
    release: (_, hasFailed) => upstream.release(hasFailed),
    clients: (query) => listClients(presentIn(upstream.connections), query),
    report: () => ({
      host: wanted.host,
      port: wanted.port,
      upstream: upstream.address,
      shards: null,
      isHeld: upstream.isHeld,
      connections: upstream.connections.size,
      commands: count.commands,
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

/** Takes a new client, or turns it away where the process has reached its limit of connections. */
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
    /** How the database is called where it is told what the proxy does. */
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

function cutOf(connection: Connection): Cut {
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
  client.on('drain', () => {
    beginPiece('takes requests again of', crumb)
    steerLink(connection)
    forwardStash(connection)
    endPiece()
  })
  client.on('end', () => {
    connection.clientEnded = true
    // A subscriber that has gone sends nothing and gets nothing: only this notices it.
    const isListening = isSubscribed(connection.state) && connection.stash.length === 0
    if (isListening && isDrained(connection)) dropConnection(connection)
    else endIfDone(connection)
    client.setTimeout(LINGER_MS, () => dropConnection(connection, LINGERED))
  })
  client.on('error', (cause) => dropConnection(connection, troubleOf(cause)))
  client.on('close', () => dropConnection(connection))
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
