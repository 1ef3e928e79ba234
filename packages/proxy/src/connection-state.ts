import { encodeCommand } from '@fairlead/engine'
import { afterClient, afterHello, withLogin } from './client-settings.ts'
import { type Command, type SubscriptionKind, subscriptions, wordAt } from './commands.ts'
import type { Tracking } from './tracking.ts'
import {
  createTransaction,
  MOST_CHANGES,
  replayTransaction,
  type Transaction,
  withQueued,
  withRefused,
} from './transaction-state.ts'

/**
 * What an engine remembers of a connection, learnt from commands that it has carried out. Values, not changed in place, but for its
 * channels: there may be many, and the connection alone has them. With it another engine can be made to remember the same (`replayOf`).
 */
export interface ConnectionState {
  readonly protocol: 2 | 3
  /** Arguments of the AUTH that worked last: password, or user and password. */
  readonly login: readonly Buffer[] | null
  /** Arguments of each AUTH behind it that nothing answered: some may have worked. */
  readonly assumedLogins: readonly (readonly Buffer[])[]
  readonly database: string
  /** Those that were selected before it, if it was selected without a reply: where it is refused, the last of them counts. */
  readonly databasesBefore: readonly string[]
  /** CLIENT SETNAME, SETINFO and the like, by what they set: the whole command. */
  readonly settings: ReadonlyMap<string, readonly Buffer[]>
  /** Each CLIENT TRACKING ON that still counts. */
  readonly tracking: readonly Tracking[]
  readonly readsFromReplica: boolean
  /** The names as latin1, so that no byte is lost. */
  readonly subscribed: Readonly<Record<SubscriptionKind, ReadonlySet<string>>>
  /** What is kept of these names. */
  readonly subscribedBytes: number
  readonly watches: boolean
  readonly transaction: Transaction | null
  /** QUIT: the engine is about to close it. */
  readonly isLeaving: boolean
  /** Why it cannot be taken up elsewhere; empty while it can. */
  readonly unmovable: string
}

const none: ReadonlySet<string> = new Set()

/** How `unmovable` ends where a command may wait, and nothing will say when it no longer does. */
export const WITHOUT_REPLY = 'without a reply'

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
  unmovable: '',
}

/** The state after the engine has carried out `command`, outside of a transaction or as its end. */
export function afterSuccess(state: ConnectionState, command: Command): ConnectionState {
  if (command.cutShort && command.name === 'CLIENT')
    return { ...state, unmovable: 'a CLIENT command had too many arguments to be remembered' }
  switch (command.name) {
    case 'HELLO':
      return afterHello(state, command)
    case 'AUTH':
      return withLogin(state, command.args)
    case 'SELECT':
      // A longer word is no number, and refused even where no answer says so.
      return (command.args[0]?.length ?? 0) > 10
        ? state
        : { ...state, database: String(command.args[0]), databasesBefore: freshState.databasesBefore }
    case 'CLIENT':
      return afterClient(state, command)
    case 'READONLY':
    case 'READWRITE':
      return { ...state, readsFromReplica: command.name === 'READONLY' }
    case 'WATCH':
      return { ...state, watches: true }
    case 'UNWATCH':
      return { ...state, watches: false }
    case 'MULTI':
      return { ...state, transaction: createTransaction() }
    case 'EXEC':
      return afterExec(state, [])
    case 'DISCARD':
      return afterTransaction(state)
    case 'QUIT':
      return { ...state, isLeaving: true }
    case 'RESET':
      // What waits without a reply was sent after it: nothing that is answered now can have ended that.
      return afterReset(state)
    default:
      return state
  }
}

function afterReset({ unmovable, settings }: ConnectionState): ConnectionState {
  return {
    ...freshState,
    // What a client says of itself engines keep.
    settings: new Map([...settings].filter(([key]) => key.startsWith('SETINFO') || key === 'CAPA')),
    // What waits without a reply was sent before it: nothing that is answered now can have ended that.
    unmovable: unmovable.endsWith(WITHOUT_REPLY) ? unmovable : '',
  }
}

/** EXEC was refused, DISCARD worked, …: the transaction is over, and with it what was watched. */
export function afterTransaction(state: ConnectionState): ConnectionState {
  return { ...state, transaction: null, watches: false }
}

/** MULTI or WATCH inside of a transaction: always refused. Whether EXEC is refused then, too, engines see differently. */
export function isNested({ transaction }: ConnectionState, { name }: Command): boolean {
  return transaction !== null && (name === 'MULTI' || name === 'WATCH')
}

/**
 * EXEC was carried out; `failed`: the numbers of commands whose answers are errors, of those that change the connection. `afterEach`:
 * what a command comes to.
 */
export function afterExec(
  state: ConnectionState,
  failed: readonly number[],
  afterEach: typeof afterQueued = afterQueued,
): ConnectionState {
  const changes = state.transaction?.changes ?? []
  const after = afterTransaction(state)
  if (changes.length > MOST_CHANGES)
    return { ...after, unmovable: 'a transaction changed the connection too often to be remembered' }
  const failures = new Set(failed)
  const worked = changes.filter(({ at }) => !failures.has(at)).map(({ command }) => command)
  return worked.reduce(afterEach, after)
}

/** In a transaction the engine has refused a command that is never part of one: WATCH, MULTI. */
export function afterRefusal(state: ConnectionState, command: Command): ConnectionState {
  const { transaction } = state
  return transaction === null ? state : { ...state, transaction: withRefused(transaction, command) }
}

/** The engine has queued `command` for EXEC, or refused to. */
export function afterQueueing(state: ConnectionState, command: Command, isQueued: boolean): ConnectionState {
  const { transaction } = state
  return transaction === null ? state : { ...state, transaction: withQueued(transaction, command, isQueued) }
}

/** A name costs more than its bytes, in the set and when it is told to another engine. */
const CHANNEL_COSTS = 160

export function afterSubscription(
  state: ConnectionState,
  {
    kind,
    adds,
    channel,
  }: { readonly kind: SubscriptionKind; readonly adds: boolean; readonly channel: string },
): ConnectionState {
  const set = state.subscribed[kind] as Set<string>
  if (adds === set.has(channel)) return state
  const bytes = channel.length + CHANNEL_COSTS
  const subscribedBytes = state.subscribedBytes + (adds ? bytes : -bytes)
  // An empty set may be the one that all connections begin with.
  if (adds && set.size === 0)
    return { ...state, subscribedBytes, subscribed: { ...state.subscribed, [kind]: new Set([channel]) } }
  // A copy for each would make many of them slow.
  if (adds) set.add(channel)
  else set.delete(channel)
  return { ...state, subscribedBytes }
}

export function isSubscribed({ subscribed }: ConnectionState): boolean {
  return subscribed.channels.size + subscribed.patterns.size + subscribed.shardChannels.size > 0
}

/** What EXEC has carried out, as far as it outlasts the transaction. */
export function afterQueued(state: ConnectionState, command: Command): ConnectionState {
  const isReply = command.name === 'CLIENT' && wordAt(command, 0) === 'REPLY'
  const isLasting = command.name in subscriptions || ['MONITOR', 'REPLCONF'].includes(command.name)
  if (isReply || isLasting)
    return { ...state, unmovable: `${isReply ? 'CLIENT REPLY' : command.name} in a transaction` }
  return afterSuccess(state, command)
}

/** One command of a replay. */
export interface Replayed {
  readonly bytes: Buffer
  /** Replies that it gets. */
  readonly replies: number
  /** It has to work; others (names, say) may be unknown to an older engine. */
  readonly must: boolean
}

/**
 * What makes a new connection remember `state`, in an order that works. WATCH cannot be had again. `generation`: of the
 * cursors of its engine. `caching`: arguments of a CLIENT CACHING that is not over.
 */
export function replayOf(
  state: ConnectionState,
  generation: number,
  caching: readonly Buffer[] | null,
): readonly Replayed[] {
  return [...baseReplayOf(state), ...restReplayOf(state, generation, caching)]
}

/** The part of it that an engine can be told while it is still a replica, and long before: nothing comes of it by itself. */
export function baseReplayOf(state: ConnectionState): readonly Replayed[] {
  const { protocol, login, assumedLogins, database, databasesBefore, settings, readsFromReplica } = state
  const isSure = databasesBefore.length === 0
  return [
    ...(login === null ? [] : [one('AUTH', login)]),
    ...silently(assumedLogins.map((args) => one('AUTH', args))),
    ...(protocol === 3 ? [one('HELLO', ['3'])] : []),
    ...[...settings.values()].map((args) => ({ ...one('CLIENT', args), must: false })),
    ...databasesBefore.map((each) => ({ ...one('SELECT', [each]), must: false })),
    ...(database === '0' && isSure ? [] : [{ ...one('SELECT', [database]), must: isSure }]),
    // On a primary it changes nothing; outside of cluster mode not every engine has it.
    ...(readsFromReplica ? [{ ...one('READONLY', []), must: false }] : []),
  ]
}

/** Whether two states have that part in common. */
export function hasSameBase(one: ConnectionState, other: ConnectionState): boolean {
  return baseFields.every((field) => one[field] === other[field])
}

const baseFields = [
  'protocol',
  'login',
  'assumedLogins',
  'database',
  'databasesBefore',
  'settings',
  'readsFromReplica',
] as const

/** What comes behind it, on the engine that has the role. */
export function restReplayOf(
  state: ConnectionState,
  generation: number,
  caching: readonly Buffer[] | null,
): readonly Replayed[] {
  const { tracking, transaction } = state
  return [
    ...tracking.map(({ args, isSure }) => ({ ...one('CLIENT', args), must: isSure })),
    ...subscriptionsOf(state),
    ...(caching === null ? [] : [one('CLIENT', caching)]),
    ...(transaction === null
      ? []
      : replayTransaction(transaction, generation).map((each) => ({ ...each, replies: 1 }))),
  ]
}

function subscriptionsOf({ subscribed }: ConnectionState): readonly Replayed[] {
  const kinds = [
    ['SUBSCRIBE', subscribed.channels],
    ['PSUBSCRIBE', subscribed.patterns],
    ['SSUBSCRIBE', subscribed.shardChannels],
  ] as const
  return kinds
    .filter(([, set]) => set.size > 0)
    .map(([name, set]) => ({
      ...one(
        name,
        Array.from(set, (channel) => Buffer.from(channel, 'latin1')),
      ),
      replies: set.size,
    }))
}

/** Without an answer, as the client has said it: not every engine answers a wrong login behind other requests. */
function silently(commands: readonly Replayed[]): readonly Replayed[] {
  if (commands.length === 0) return []
  const reply = (word: string, replies: number) => ({
    ...one('CLIENT', ['REPLY', word]),
    replies,
    must: false,
  })
  return [reply('OFF', 0), ...commands.map((each) => ({ ...each, replies: 0 })), reply('ON', 1)]
}

function one(name: string, args: readonly (string | Buffer)[]): Replayed {
  return { bytes: encodeCommand([name, ...args]), replies: 1, must: true }
}
