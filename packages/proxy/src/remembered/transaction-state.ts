import { encodeCommand } from '@fairlead/engine'
import { type Command, hasWord, wordAt } from './command.ts'
import { argsForEngine, isScan } from './scan-cursors.ts'

/** An open transaction. Immutable, except that its lists grow in place: nothing else refers to them. */
export interface Transaction {
  /** Commands that EXEC would execute, in order; empty if it will fail. */
  readonly queued: readonly Command[]
  /** Number of queued commands, and those that will change the connection, with their numbers from 0. */
  readonly count: number
  readonly changes: readonly Change[]
  /** Numbers of the scans. */
  readonly scans: readonly number[]
  /**
   * True if EXEC must answer EXECABORT: the engine has refused a command, or another engine must abort
   * because not all commands are kept.
   */
  readonly broken: boolean
  /** True if the engine has refused a command and will answer EXEC with EXECABORT. */
  readonly aborts: boolean
  /** Commands refused in a transaction, not queued. Some engines then refuse EXEC too. */
  readonly refused: ReadonlySet<string>
  /** Bytes kept of it. */
  readonly bytes: number
}

export interface Change {
  readonly at: number
  readonly command: Command
}

/** Returns the state after MULTI has succeeded. */
export function createTransaction(): Transaction {
  return {
    queued: [],
    count: 0,
    changes: [],
    scans: [],
    broken: false,
    aborts: false,
    refused: new Set(),
    bytes: 0,
  }
}

/** A transaction with more changes cannot move after EXEC. Each takes 2 to 4 µs of EXEC's turn. */
export const MOST_CHANGES = 1_000

const WORD_COSTS = 64

/** Returns the cost of a command, with its object and those of its arguments. */
export function sizeOf({ name, args }: Command): number {
  let size = name.length + WORD_COSTS
  for (const { length } of args) size += length + WORD_COSTS
  return size
}

/** Returns the state after the engine has queued or refused `command`. */
export function withQueued(transaction: Transaction, command: Command, isQueued: boolean): Transaction {
  if (!isQueued) return { ...transaction, broken: true, aborts: true, queued: [], bytes: 0 }
  const { count, broken, bytes } = transaction
  const queued = transaction.queued as Command[]
  const changes = transaction.changes as Change[]
  const scans = transaction.scans as number[]
  if (isScan(command)) scans.push(count)
  if (isChange(command) && changes.length <= MOST_CHANGES) changes.push({ at: count, command })
  if (broken || command.cutShort)
    return { ...transaction, broken: true, queued: [], bytes: 0, count: count + 1 }
  // Grown in place: a copy for each command would make long transactions slow.
  queued.push(command)
  return { ...transaction, count: count + 1, bytes: bytes + sizeOf(command) }
}

/** Notes a refused command that no transaction may contain; engines differ in failing EXEC then. */
export function withRefused(transaction: Transaction, { name }: Command): Transaction {
  return { ...transaction, refused: new Set([...transaction.refused, name]) }
}

/** Drops the commands: if the connection moves before EXEC, EXEC answers EXECABORT. */
export function withoutQueued(transaction: Transaction): Transaction {
  return { ...transaction, broken: true, queued: [], bytes: 0 }
}

const changing: ReadonlySet<string> = new Set([
  ...['SELECT', 'HELLO', 'CLIENT', 'READONLY', 'READWRITE', 'MONITOR', 'REPLCONF'],
  ...['SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE', 'UNSUBSCRIBE', 'PUNSUBSCRIBE', 'SUNSUBSCRIBE'],
])

/** True if the command changes the connection when executed. */
export function isChange({ name }: Command): boolean {
  return changing.has(name)
}

/**
 * True if the reply of EXEC may have fewer elements than announced, so that its end cannot be found: CLIENT
 * REPLY OFF and SKIP (Redis, and Valkey before 9), a failed login (Valkey 8).
 */
export function mayCutReply(command: Command): boolean {
  const { name, args, cutShort } = command
  if (name === 'CLIENT') return wordAt(command, 0) === 'REPLY' && wordAt(command, 1) !== 'ON'
  return name === 'AUTH' || (name === 'HELLO' && (cutShort || hasWord(args, 'AUTH')))
}

/**
 * Returns the commands that reopen the transaction at an engine of this `generation`. Those without `must`
 * may be refused; some are sent to be refused.
 */
export function replayTransaction(
  { queued, broken, refused }: Transaction,
  generation: number,
): readonly { readonly bytes: Buffer; readonly must: boolean }[] {
  // An older engine may not know a command, or lack the memory: EXEC then answers EXECABORT, as usual.
  const again = (command: Command) => ({
    bytes: encodeCommand([command.name, ...argsForEngine(command, generation)]),
    must: false,
  })
  const multi = { bytes: encodeCommand(['MULTI']), must: true }
  // The engine refuses this command, and so answers EXEC with EXECABORT.
  if (broken) return [multi, { bytes: encodeCommand(['GET']), must: false }]
  const misplaced = [...refused].map((name) => ({ bytes: encodeCommand(argumentsOf(name)), must: false }))
  return [multi, ...queued.map(again), ...misplaced]
}

/** Returns a command that is refused only inside of a transaction. */
function argumentsOf(name: string): readonly string[] {
  return name === 'WATCH' ? [name, 'k'] : [name]
}
