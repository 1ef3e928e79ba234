import type { Socket } from 'node:net'
import type { GatheredBytes, RequestScanner } from '@fairlead/engine'
import type { Command } from '../remembered/command.ts'
import type { ConnectionState } from '../remembered/connection-state.ts'
import type { KnownScripts } from '../remembered/known-scripts.ts'
import type { Count, Timed } from '../traffic/count-traffic.ts'
import type { Tape } from '../traffic/tape.ts'
import type { Ahead } from './ahead.ts'
import type { Allowance } from './allowance.ts'
import type { Caching } from './caching.ts'
import type { Link, Via } from './link.ts'
import type { Login } from './login.ts'
import type { LongGate } from './long-gate.ts'
import type { PublishBarrier } from './publish-barrier.ts'
import type { PutOff } from './put-off.ts'

/**
 * A client's connection, and the one connection to an engine behind it (its link). Its modes:
 *
 * opening — there is no link yet: the client has just come, or its engine ended while
 *
 * it was idle. What the client sends is stashed. Ends with a link that remembers the connection's state: serving; or
 *
 * closed, with an error, when no engine can be reached. serving — bytes go both ways as they come. Only this mode forwards
 * requests that begin. Ends by a hold, or when
 *
 * either side is gone: then the other is closed once it has got everything. draining — a hold has begun. A long request of which
 * a part is forwarded, and not kept, is completed, everything else is
 *
 * stashed, replies are still delivered. Ends as soon as every request is answered, except a command that blocks. held — nothing
 * is under way but, perhaps, a blocking command. The engine may be demoted now: if it says UNBLOCKED and
 *
 * closes, the client sees neither, and the command is asked `again` with the time it has left. moving — a new link is being
 * opened and made to remember the state. The old one is read as long as it may hold
 *
 * something for the client. Ends as serving, on the new link, with the stash forwarded first. closed — both sides are gone.
 */
export type Mode = 'opening' | 'serving' | 'draining' | 'held' | 'moving' | 'closed'

/** One client of an endpoint and what is known of it; `mode` says what may happen to it next. */
export interface Connection {
  readonly client: ClientSide
  readonly visitor: Visitor
  /** The address of its link, or of its last link; null before the first. */
  via: Via | null
  /** Why it was closed; empty while it is open, and when its client ended it. */
  cutBecause: string
  /** True: it was closed because no engine could be reached, so its requests that were not sent have not been executed. */
  isUnreached: boolean
  readonly requests: RequestScanner
  readonly owner: Owner
  mode: Mode
  link: Link | null
  state: ConnectionState
  caching: Caching | null
  /** Bytes of the client that may not be forwarded yet, from the beginning of a request on. */
  stash: Buffer[]
  stashBytes: number
  /** The effects that the forwarded requests will have; their replies have not arrived yet. */
  ahead: Ahead
  readonly login: Login
  /** How often the question about its login got no answer after the time for it was over. */
  judged: number
  /** True: it has had its turn, and what it sends waits for the next one (turns.ts). */
  yielded: boolean
  /** True: its next request waits, because it may publish and not all subscribers have moved, or because it is long and the gate for long requests is closed. */
  heldByBarrier: boolean
  /** Bytes kept of the commands of transactions that are under way, and of transactions in all (`countKept`). */
  underWayBytes: number
  keptBytes: number
  /** Bytes counted for its channels (`countSubscribed`). */
  countedBytes: number
  /** A blocking command is under way: nothing is forwarded after it, so that it can be sent again elsewhere. */
  blocked: boolean
  /** True: so it is, and it was held since, or was to be ended before (given-up.ts); the engine's answer to that may not be read yet. */
  mayBeGivenUp: boolean
  /** The blocking command that the engine has ended because its role changed; it is sent again. */
  again: Asked | null
  /** True: the watched keys are lost with the old engine, so the next EXEC answers nil, as if a key had changed. */
  watchLost: boolean
  /** The beginning of a request that is not complete yet, as long as it is short: nothing of it is forwarded. */
  readonly begun: GatheredBytes
  /** The forwarded bytes of a long request that is not complete yet; null: there is no such request, or its bytes are not kept (keep-part.ts). */
  part: SentPart | null
  /**
   * Not null: the requests can no longer be parsed, and all bytes go unchanged to the engine, which answers with its error, and closes. When bytes
   * may not be sent any more, the client gets this text after its last reply.
   */
  protocolError: string | undefined
  /** Not null: nothing more is taken of its client, and when all is answered the connection ends with this error. */
  lastError: string | null
  readonly timed: Timed
  /** How often it delayed the last holds. */
  putOff: PutOff | null
  clientEnded: boolean
  era: number
  /** A link at an engine that is about to have the role. */
  prepared: Prepared | null
  /** True: the proxy has closed its side of a link with a blocked command; if the link ends without a reply, the command was not executed. */
  takingBack: boolean
  /** Above 0: what its former engine still sends is taken, also if the client does not read; the bytes that it has not read then (steer-client.ts). */
  readsOn: number
  lateBytes: number
}

/** A client: its address and port, and when it connected, in milliseconds since 1970. */
export interface Visitor {
  readonly address: string
  readonly sinceMs: number
  /** The client and its database, as breadcrumbs name them (heartbeat/breadcrumb.ts). */
  readonly crumb: Uint8Array
}

/** A link whose engine remembers the part of `state` that can be set on a replica. */
export interface Prepared {
  readonly link: Link
  readonly state: ConnectionState
  readonly target: { readonly host: string; readonly port: number }
  readonly forget: NodeJS.Timeout
  /** Called when the link is no longer ready: it was used, or is not needed. */
  readonly leave: () => void
}

/** The bytes of an incomplete long request that an engine has got, so that another engine can get them instead. `bytes`: their cost. */
export interface SentPart {
  readonly chunks: Buffer[]
  bytes: number
}

/** A blocking command and since when it waits, in milliseconds of performance.now. */
export interface Asked {
  readonly command: Command
  readonly sinceMs: number
  /** True: it can be sent again on the link on which it was ended. */
  readonly keepsLink: boolean
}

/** The owner of a connection, which is notified of its changes. */
export interface Owner {
  /** How often the role has moved. A change of this number makes thousands of connections late at once. */
  era: number
  /** Called when nothing is under way any more. */
  readonly onQuiet: (connection: Connection) => void
  /** Called when a blocking command that may be given up is answered. */
  readonly onUnblocked: (connection: Connection) => void
  /** Called when the client has sent something that cannot be forwarded yet. */
  readonly onWaiting: (connection: Connection) => void
  readonly onClosed: (connection: Connection) => void
  /** Called when it is about to be closed, and not by its client: see `cutBecause`. */
  readonly onCut: (connection: Connection) => void
  readonly onError: (what: string) => void
  /** Called when its engine has confirmed its login, or that it needs none. */
  readonly onLogin: (connection: Connection) => void
  /** Whether its engine asks clients to sign in; null: not known yet. */
  readonly logins: { asked: boolean | null }
  readonly count: Count
  readonly tape: Tape
  /** Learns the scripts that clients give their engines. */
  readonly scripts: KnownScripts
  readonly barrier: PublishBarrier
  readonly gate: LongGate
  /** The name of its endpoint. */
  readonly allowance: Allowance
}

/** Where replies go: the client's socket or, of a sharded database, what puts them in order with those of other groups. */
export type ClientSide = Pick<
  Socket,
  | ('isPaused' | 'pause' | 'resume' | 'end' | 'destroy' | 'destroyed' | 'destroySoon' | 'setTimeout')
  | ('writableNeedDrain' | 'writableLength' | 'bytesWritten')
> & { write(bytes: Buffer | string): boolean }
