import type { Command } from './command.ts'
import type { SubscriptionKind } from './commands.ts'
import type { Transaction } from './transaction-state.ts'
import type { Unmovable } from './unmovable.ts'

/**
 * State that an engine keeps for a connection, learnt from executed commands; `replayOf` restores it at
 * another engine. Immutable, except the sets of channels: they may be large, and only this connection refers
 * to them.
 */
export interface ConnectionState {
  readonly protocol: 2 | 3
  /** Arguments of the last successful AUTH: password, or user and password. */
  readonly login: readonly Buffer[] | null
  /** Arguments of each later AUTH without a reply: some may have succeeded. */
  readonly assumedLogins: readonly (readonly Buffer[])[]
  readonly database: string
  /** Databases selected before a SELECT without a reply: if it was refused, the last of them counts. */
  readonly databasesBefore: readonly string[]
  /** CLIENT SETNAME, SETINFO and the like: map from the setting to the whole command. */
  readonly settings: ReadonlyMap<string, readonly Buffer[]>
  /** Each CLIENT TRACKING ON still in effect. */
  readonly tracking: readonly Tracking[]
  readonly readsFromReplica: boolean
  /** Names in latin1, which loses no byte. */
  readonly subscribed: Readonly<Record<SubscriptionKind, ReadonlySet<string>>>
  /** Bytes kept of these names. */
  readonly subscribedBytes: number
  readonly watches: boolean
  readonly transaction: Transaction | null
  /** True after QUIT: the engine closes the connection next. */
  readonly isLeaving: boolean
  /** Reason for which the connection cannot be moved, or undefined. */
  readonly unmovable: Unmovable | undefined
}

const none: ReadonlySet<string> = new Set()

/** State of a new connection. */
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

/** True for MULTI or WATCH in a transaction: always refused. Engines differ in refusing EXEC afterwards. */
export function isNested({ transaction }: ConnectionState, { name }: Command): boolean {
  return transaction !== null && (name === 'MULTI' || name === 'WATCH')
}

/** Returns the name of the user; null if an AUTH without a reply may have changed it. */
export function userOf({ login, assumedLogins }: ConnectionState): string | null {
  if (assumedLogins.length > 0) return null
  return login?.length === 2 ? String(login[0]?.toString('latin1')) : 'default'
}

/** True if the connection has a subscription of any kind. */
export function isSubscribed({ subscribed }: ConnectionState): boolean {
  return subscribed.channels.size + subscribed.patterns.size + subscribed.shardChannels.size > 0
}

/** A CLIENT TRACKING ON. Without `isSure` there was no reply, so the engine may have refused it. */
export interface Tracking {
  readonly args: readonly Buffer[]
  readonly isSure: boolean
}
