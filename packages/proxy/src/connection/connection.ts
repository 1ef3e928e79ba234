import type { Socket } from 'node:net'
import type { GatheredBytes, RequestScanner } from '@fairlead/engine'
import type { Command } from '../remembered/command.ts'
import type { ConnectionState } from '../remembered/connection-state.ts'
import type { KnownScripts } from '../remembered/known-scripts.ts'
import type { Found, Peers } from '../remembered/peers.ts'
import type { Count, Timed } from '../traffic/count-traffic.ts'
import type { Tape } from '../traffic/tape.ts'
import type { Ahead } from './ahead.ts'
import type { Allowance } from './allowance.ts'
import type { Caching } from './caching.ts'
import type { HandoverDelay } from './handover-delay.ts'
import type { Link, Via } from './link.ts'
import type { Login } from './login.ts'
import type { LongGate } from './long-gate.ts'
import type { PublishBarrier } from './publish-barrier.ts'

/**
 * Modes of a client's connection. Behind it is one connection to an engine (its link).
 * opening — there is no link yet: the client has just connected, or its engine ended while the connection was
 *   idle. Requests are stashed. Ends as serving, when a link has the connection's state; or as closed, with
 *   an error, when no engine can be reached.
 * serving — bytes pass both ways on arrival. Only this mode forwards new requests. Ends by a hold, or when
 *   one side ends: the other side is closed once it has received everything.
 * draining — a hold has begun. A partly forwarded long request whose bytes are not kept is completed,
 *   everything else is stashed, and replies are still delivered. Ends when every request is answered, except
 *   a blocking command.
 * held — at most a blocking command is pending. The engine may be demoted now: if it answers UNBLOCKED and
 *   closes, the client sees neither, and the command is sent `again` with its remaining time.
 * moving — a new link is opened and given the connection's state. The old one is read as long as it may hold
 *   bytes for the client. Ends as serving on the new link; the stash is forwarded first.
 * closed — both sides are gone.
 */
export type Mode = 'opening' | 'serving' | 'draining' | 'held' | 'moving' | 'closed'

/** State of one client of an endpoint; `mode` decides which events are allowed next. */
export interface Connection {
  readonly client: ClientSide
  readonly visitor: Visitor
  /** Addresses of the present or the last link; null before the first. */
  via: Via | null
  /** Reason for closing; empty while open, and when the client closed. */
  cutBecause: string
  /** True if closed because no engine could be reached: unsent requests were not executed. */
  isUnreached: boolean
  readonly owner: Owner
  mode: Mode
  link: Link | null
  readonly login: Login
  /** How often the login deadline passed without an answer that proves a login. */
  judged: number
  readonly timed: Timed
  readonly input: ClientInput
  readonly session: Session
  readonly move: Move
}

/** Bytes of the client on their way to the engine. `forwarding` writes it. */
export interface ClientInput {
  readonly requests: RequestScanner
  /** Bytes of the client that may not be forwarded yet, from the start of a request. */
  stash: Buffer[]
  stashBytes: number
  /** True if its turn is over: new requests wait for the next turn (turns.ts). */
  yielded: boolean
  /**
   * True if the next request waits: it may publish before all subscribers have moved, or it is long and the
   * long gate is closed.
   */
  heldByBarrier: boolean
  /**
   * True while a blocking command is pending: no later request is forwarded, so that it can be sent again
   * elsewhere.
   */
  blocked: boolean
  /** The beginning of a short incomplete request; nothing of it is forwarded. */
  readonly begun: GatheredBytes
  /**
   * Forwarded bytes of a long incomplete request; null if there is none, or its bytes are not kept
   * (keep-part.ts).
   */
  part: SentPart | null
  /**
   * Set if requests can no longer be parsed. All bytes then go unchanged to the engine, which answers with
   * its error and closes; once bytes may not be sent any more, the client gets this text after its last
   * reply.
   */
  protocolError: string | undefined
  /** Set if no further request is read: after the last reply the connection ends with this error, if any. */
  lastError: string | null
  clientEnded: boolean
}

/**
 * State that the engine remembers of the client, with what pending requests will change. Another engine is
 * given it.
 */
export interface Session {
  state: ConnectionState
  caching: Caching | null
  /** Effects of forwarded requests whose replies have not arrived yet. */
  ahead: Ahead
  /** Bytes kept for transactions: for commands that are not answered yet, and in total (`countKept`). */
  underWayBytes: number
  keptBytes: number
  /** Bytes counted for channel names (`countSubscribed`). */
  countedBytes: number
  /** The blocking command that the engine ended because its role changed; it is sent again. */
  again: Asked | null
  /**
   * True if the watched keys were lost with the old engine: the next EXEC answers nil, as after a changed
   * key.
   */
  watchLost: boolean
  /** The clients that its next request (CLIENT LIST, for example) asks for; awaited until they are found. */
  found: Found | 'awaited' | null
  /** Bytes of such lists until they are read (traffic/listed-bytes.ts). */
  listedBytes: number
}

/** State of a handover of this connection. `handover` writes it. */
export interface Move {
  /** True if held while blocked, or if its command was to be ended before a hold (unblocked-clients.ts). */
  mayBeGivenUp: boolean
  /** Counts how often the client delayed recent holds. */
  putOff: HandoverDelay | null
  era: number
  /** A link to an engine that will get the primary role soon. */
  prepared: Prepared | null
  /**
   * True if the proxy has closed its side of a link with a blocked command. If the link ends without a reply,
   * the command was not executed.
   */
  takingBack: boolean
  /**
   * `readsOn` > 0: the rest of the former engine's output is read even if the client reads nothing.
   * `lateBytes`: bytes unread by the client then (steer-client.ts).
   */
  readsOn: number
  lateBytes: number
}

/** A client: its number (CLIENT ID), address and port, and time of connection (Unix ms). */
export interface Visitor {
  readonly id: number
  readonly address: string
  readonly sinceMs: number
  /** The client and its database, as named in breadcrumbs (heartbeat/breadcrumb.ts). */
  readonly crumb: Uint8Array
}

/** A link whose engine has the part of `state` that can be set on a replica. */
export interface Prepared {
  readonly link: Link
  readonly state: ConnectionState
  readonly target: { readonly host: string; readonly port: number }
  readonly forget: NodeJS.Timeout
  /** Called when the link is used or no longer needed. */
  readonly leave: () => void
}

/**
 * Bytes of an incomplete long request that an engine has received; kept to be sent to another engine.
 * `bytes`: their cost.
 */
export interface SentPart {
  readonly chunks: Buffer[]
  bytes: number
}

/** A blocking command and the start of its wait (ms of performance.now). */
export interface Asked {
  readonly command: Command
  readonly sinceMs: number
  /** True if it can be sent again on the link on which it was ended. */
  readonly keepsLink: boolean
}

/** The owner of a connection. It is notified of changes. */
export interface Owner {
  /** Counts moves of the role. An increment makes thousands of connections late at the same time. */
  era: number
  /** Called when no request is pending any more. */
  readonly onQuiet: (connection: Connection) => void
  /** Called when a blocking command that may be given up is answered. */
  readonly onUnblocked: (connection: Connection) => void
  /** Called when the client has sent bytes that cannot be forwarded yet. */
  readonly onWaiting: (connection: Connection) => void
  readonly onClosed: (connection: Connection) => void
  /** Called before a close that the client did not cause (`cutBecause`). */
  readonly onCut: (connection: Connection) => void
  readonly onError: (what: string) => void
  /** Called when the engine has confirmed the login, or needs none. */
  readonly onLogin: (connection: Connection) => void
  /** `asked`: true if the engine requires a login; null if unknown. */
  readonly logins: { asked: boolean | null }
  readonly count: Count
  readonly tape: Tape
  /** Learns the scripts that clients load. */
  readonly scripts: KnownScripts
  readonly peers: Peers
  readonly barrier: PublishBarrier
  readonly gate: LongGate
  /** Work share of the endpoint. */
  readonly allowance: Allowance
}

/**
 * Destination of replies: the client's socket or, for a sharded database, the code that orders replies of
 * several groups.
 */
export type ClientSide = Pick<
  Socket,
  | ('isPaused' | 'pause' | 'resume' | 'end' | 'destroy' | 'destroyed' | 'destroySoon' | 'setTimeout')
  | ('writableNeedDrain' | 'writableLength' | 'bytesWritten' | 'localAddress' | 'localPort')
> & { write(bytes: Buffer | string): boolean }
