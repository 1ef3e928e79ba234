import { type CommandTable, encodeCommand, makeCommandTable } from '@fairlead/engine'
import { type Command, isWord } from './command.ts'
import { scriptCommands } from './known-scripts.ts'
import { scanNames } from './scan-cursors.ts'

/** Number of arguments kept of each command: enough for any real use. */
const SOME = 64
const MANY = 100_000

/** Commands that block until data arrives or they time out, with the place of their timeout. */
const blocking: Readonly<Record<string, 'first' | 'last' | 'block'>> = {
  BLPOP: 'last',
  BRPOP: 'last',
  BLMOVE: 'last',
  BRPOPLPUSH: 'last',
  BZPOPMIN: 'last',
  BZPOPMAX: 'last',
  BLMPOP: 'first',
  BZMPOP: 'first',
  WAIT: 'last',
  WAITAOF: 'last',
  XREAD: 'block',
  XREADGROUP: 'block',
}
/** Commands that may block, depending on their arguments (`isBlocking`). */
export const blockingNames: ReadonlySet<string> = new Set(Object.keys(blocking))
/** Blocking commands that mean the same when sent again on another connection while writes continue. */
export const retaken: ReadonlySet<string> = new Set(
  [...blockingNames].filter((name) => !name.startsWith('WAIT')),
)
const inMilliseconds = new Set(['WAIT', 'WAITAOF', 'XREAD', 'XREADGROUP'])

/** The first word of the confirming replies (one for each channel), and the set that changes. */
export const subscriptions: Readonly<
  Record<string, { readonly kind: SubscriptionKind; readonly adds: boolean; readonly word: string }>
> = {
  SUBSCRIBE: { kind: 'channels', adds: true, word: 'subscribe' },
  UNSUBSCRIBE: { kind: 'channels', adds: false, word: 'unsubscribe' },
  PSUBSCRIBE: { kind: 'patterns', adds: true, word: 'psubscribe' },
  PUNSUBSCRIBE: { kind: 'patterns', adds: false, word: 'punsubscribe' },
  SSUBSCRIBE: { kind: 'shardChannels', adds: true, word: 'ssubscribe' },
  SUNSUBSCRIBE: { kind: 'shardChannels', adds: false, word: 'sunsubscribe' },
}
/** The three kinds of pub/sub, which an engine counts separately. */
export type SubscriptionKind = 'channels' | 'patterns' | 'shardChannels'

/** After these, the engine may send anything at any time: the state needed at another engine is unknown. */
export const unmovable: ReadonlySet<string> = new Set(['MONITOR', 'SYNC', 'PSYNC', 'REPLCONF'])

/** Commands that are examined; all others are only counted. */
export const notedNames: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Object.keys(blocking).map((name) => [name, MANY])),
  ...Object.fromEntries(Object.keys(subscriptions).map((name) => [name, MANY])),
  ...Object.fromEntries([...unmovable].map((name) => [name, 0])),
  ...Object.fromEntries(scanNames.map((name) => [name, MANY])),
  ...scriptCommands,
  // One more than is kept, to detect an excess.
  HELLO: SOME + 1,
  AUTH: 2,
  SELECT: 1,
  CLIENT: SOME + 1,
  READONLY: 0,
  READWRITE: 0,
  // As many as engines need, or one more: enough to see if they refuse the command.
  MULTI: 1,
  EXEC: 1,
  DISCARD: 1,
  WATCH: 1,
  UNWATCH: 1,
  RESET: 1,
  QUIT: 0,
}
/** The examined commands, for the request scanner. */
export const table: CommandTable = makeCommandTable(notedNames)

/** True if it has more arguments than are kept. */
export function hasTooMany({ name, args }: Pick<Command, 'name' | 'args'>): boolean {
  return args.length > SOME && (name === 'CLIENT' || name === 'HELLO')
}

/** True if every engine refuses a transaction command for its arguments. Not EXEC: it always ends one. */
export function isMisformed({ name, args }: Command): boolean {
  if (name === 'WATCH') return args.length === 0
  return withoutArguments.has(name) && args.length > 0
}

const withoutArguments: ReadonlySet<string> = new Set(['MULTI', 'DISCARD', 'UNWATCH', 'RESET'])

/** True if the command may block its connection. In a transaction none does. */
export function isBlocking(command: Command): boolean {
  const place = blocking[command.name]
  return place !== undefined && (place !== 'block' || timeAt(command) >= 0)
}

/**
 * Encodes a blocking command with the rest of its timeout after `waitedMs`. Zero means no timeout, and stays;
 * an expired command gets the shortest timeout, so that the engine answers it.
 */
export function encodeWithTimeLeft(command: Command, waitedMs: number): Buffer {
  const at = timeAt(command)
  const text = command.args[at]?.toString('latin1') ?? ''
  const isMs = inMilliseconds.has(command.name)
  const time = Number(text)
  if (!(time > 0)) return encodeCommand([command.name, ...command.args])
  const left = Math.max(1, Math.round(isMs ? time - waitedMs : time * 1000 - waitedMs))
  return encodeCommand([
    command.name,
    ...command.args.with(at, Buffer.from(String(isMs ? left : left / 1000))),
  ])
}

/** Returns the index of the timeout argument; -1 if there is none. */
function timeAt({ name, args }: Command): number {
  const place = blocking[name]
  if (place === 'first') return 0
  if (place === 'last') return args.length - 1
  for (let at = 0; at + 1 < args.length; at += 1) {
    const word = args[at]
    if (isWord(word, 'STREAMS')) return -1
    if (isWord(word, 'BLOCK')) return at + 1
    at += valuesAfter(word)
  }
  return -1
}

/** Number of words after an option of XREAD or XREADGROUP: a group may be named like another option. */
function valuesAfter(option: Buffer | undefined): number {
  if (isWord(option, 'GROUP')) return 2
  return isWord(option, 'COUNT') || isWord(option, 'CLAIM') ? 1 : 0
}
