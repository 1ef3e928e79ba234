import type { Command } from './command.ts'
import type { SubscriptionKind } from './commands.ts'
import type { Transaction } from './transaction-state.ts'
import type { Unmovable } from './unmovable.ts'

/**
 * What an engine remembers about a connection, learnt from commands that it has executed. Values, not changed in place, except for its
 * channels: there may be many, and only this connection refers to them. From this state another engine can be made to remember the same (`replayOf`).
 */
export interface ConnectionState {
  readonly protocol: 2 | 3
  /** Arguments of the AUTH that worked last: password, or user and password. */
  readonly login: readonly Buffer[] | null
  /** Arguments of each later AUTH without an answer: some may have succeeded. */
  readonly assumedLogins: readonly (readonly Buffer[])[]
  readonly database: string
  /** The databases that were selected before it, if it was selected without a reply: if it is refused, the last of them counts. */
  readonly databasesBefore: readonly string[]
  /** CLIENT SETNAME, SETINFO and the like, by what they set: the whole command. */
  readonly settings: ReadonlyMap<string, readonly Buffer[]>
  /** Each CLIENT TRACKING ON that still counts. */
  readonly tracking: readonly Tracking[]
  readonly readsFromReplica: boolean
  /** The names as latin1, so that no byte is lost. */
  readonly subscribed: Readonly<Record<SubscriptionKind, ReadonlySet<string>>>
  /** The bytes kept of these names. */
  readonly subscribedBytes: number
  readonly watches: boolean
  readonly transaction: Transaction | null
  /** True after QUIT: the engine is about to close the connection. */
  readonly isLeaving: boolean
  /** Why the connection cannot be moved; undefined while it can. */
  readonly unmovable: Unmovable | undefined
}

const none: ReadonlySet<string> = new Set()

/** The state of a connection that has just been opened. */
export const freshState: ConnectionState = {
  protocol: 2,
  login: null,
  assumedLogins: [],
  database: '0',
  databasesBefore: [],
  settings: new Map(),
  tracking: [],
  readsFromReplica: false,
  subscribed: { channels: none, patterns: none, shardChannels: none },
  subscribedBytes: 0,
  watches: false,
  transaction: null,
  isLeaving: false,
  unmovable: undefined,
}

/** MULTI or WATCH inside of a transaction: always refused. Engines differ in whether EXEC is refused then, too. */
export function isNested({ transaction }: ConnectionState, { name }: Command): boolean {
  return transaction !== null && (name === 'MULTI' || name === 'WATCH')
}

/** Whether the connection has any subscription, of whichever kind. */
export function isSubscribed({ subscribed }: ConnectionState): boolean {
  return subscribed.channels.size + subscribed.patterns.size + subscribed.shardChannels.size > 0
}

/** A CLIENT TRACKING ON that the engine has executed; without `isSure` it may have refused the command, because there was no answer. */
export interface Tracking {
  readonly args: readonly Buffer[]
  readonly isSure: boolean
}
