import { encodeCommand, hashSlot } from '@fairlead/engine'
import type { ConnectionState } from './connection-state.ts'
import { replayTransaction } from './transaction-state.ts'

/** One command of a replay. */
export interface Replayed {
  readonly bytes: Buffer
  /** Number of its replies. */
  readonly replies: number
  /** True if it must succeed. Others (names, for example) may be unknown to an older engine. */
  readonly must: boolean
}

/**
 * Returns the commands that give a new connection this `state`, in a working order. WATCH cannot be restored.
 * `generation`: of its engine's cursors; `caching`: arguments of a CLIENT CACHING still in effect.
 */
export function replayOf(
  state: ConnectionState,
  generation: number,
  caching: readonly Buffer[] | null,
): readonly Replayed[] {
  return [...baseReplayOf(state), ...restReplayOf(state, generation, caching)]
}

/** Returns the part that can be set early, on a replica: it causes no messages. */
export function baseReplayOf(state: ConnectionState): readonly Replayed[] {
  const { protocol, login, assumedLogins, database, databasesBefore, settings, readsFromReplica } = state
  const isSure = databasesBefore.length === 0
  return [
    ...(login === null ? [] : [one('AUTH', login)]),
    ...silently(assumedLogins.map((args) => one('AUTH', args))),
    ...hello(protocol, settings.get('SETNAME')?.[1]),
    ...[...settings].flatMap(([name, args]) =>
      name === 'SETNAME' ? [] : [{ ...one('CLIENT', args), must: false }],
    ),
    ...databasesBefore.map((each) => ({ ...one('SELECT', [each]), must: false })),
    ...(database === '0' && isSure ? [] : [{ ...one('SELECT', [database]), must: isSure }]),
    // READONLY has no effect on a primary; outside of cluster mode not every engine has it.
    ...(readsFromReplica ? [{ ...one('READONLY', []), must: false }] : []),
  ]
}

/** Sets the name with HELLO, which every user may send, unlike CLIENT SETNAME. */
function hello(protocol: number, name: Buffer | undefined): readonly Replayed[] {
  if (protocol !== 3 && name === undefined) return []
  const words = name === undefined ? [] : ['SETNAME', name]
  return [{ ...one('HELLO', [String(protocol), ...words]), must: protocol === 3 }]
}

/** True if the parts of `baseReplayOf` are equal. */
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

/** Returns the rest, for the primary. */
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
  return [
    ...subscription('SUBSCRIBE', namesOf(subscribed.channels)),
    ...subscription('PSUBSCRIBE', namesOf(subscribed.patterns)),
    // In cluster mode an engine refuses a command with shard channels of several slots.
    ...[...Map.groupBy(namesOf(subscribed.shardChannels), hashSlot).values()].flatMap((channels) =>
      subscription('SSUBSCRIBE', channels),
    ),
  ]
}

function namesOf(set: ReadonlySet<string>): readonly Buffer[] {
  return Array.from(set, (name) => Buffer.from(name, 'latin1'))
}

function subscription(name: string, channels: readonly Buffer[]): readonly Replayed[] {
  return channels.length === 0 ? [] : [{ ...one(name, channels), replies: channels.length }]
}

/** Sent without replies, as by the client: not every engine answers a wrong login after other requests. */
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
