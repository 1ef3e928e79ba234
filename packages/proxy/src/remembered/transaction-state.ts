import { encodeCommand } from '@fairlead/engine'
import { type Command, hasWord, wordAt } from './command.ts'
import { argsForEngine, isScan } from './scan-cursors.ts'

/** A transaction that the engine has begun, and what it holds. Values; only the lists grow in place, and there is no other reference to them. */
export interface Transaction {
  /** The commands that EXEC would execute, in order; empty when it will fail. */
  readonly queued: readonly Command[]
  /** How many commands the engine has queued, and those that will change the connection, with their numbers from 0. */
  readonly count: number
  readonly changes: readonly Change[]
  /** The numbers of those that are scans. */
  readonly scans: readonly number[]
  /** True: the engine will answer EXEC with EXECABORT, because it has refused a command; or another engine must, because not all commands are kept. */
  readonly broken: boolean
  /** True: the engine has refused a command of it, and will answer EXEC with EXECABORT. */
  readonly aborts: boolean
  /** Names of commands that are not queued but refused in a transaction. Some engines then refuse EXEC too. */
  readonly refused: ReadonlySet<string>
  /** The bytes kept of it. */
  readonly bytes: number
}

export interface Change {
  readonly at: number
  readonly command: Command
}

/** The state after MULTI has succeeded. */
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

/** No transaction needs more. One with more cannot move once it is executed. Each takes 2 to 4 µs of the turn in which EXEC is answered. */
export const MOST_CHANGES = 1_000

const WORD_COSTS = 64

/** A command costs its object and those of its arguments, too. */
export function sizeOf({ name, args }: Command): number {
  let size = name.length + WORD_COSTS
  for (const { length } of args) size += length + WORD_COSTS
  return size
}

/** The state after the engine has queued `command`, or refused to. */
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
  // They grow in place, since a copy for each command would make long transactions slow.
  queued.push(command)
  return { ...transaction, count: count + 1, bytes: bytes + sizeOf(command) }
}

/** A command that no transaction may contain was refused; engines differ in whether EXEC fails then. */
export function withRefused(transaction: Transaction, { name }: Command): Transaction {
  return { ...transaction, refused: new Set([...transaction.refused, name]) }
}

/** A transaction whose commands were dropped: if it moves while it is open, its EXEC answers EXECABORT. */
export function withoutQueued(transaction: Transaction): Transaction {
  return { ...transaction, broken: true, queued: [], bytes: 0 }
}

const changing: ReadonlySet<string> = new Set([
  ...['SELECT', 'HELLO', 'CLIENT', 'READONLY', 'READWRITE', 'MONITOR', 'REPLCONF'],
  ...['SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE', 'UNSUBSCRIBE', 'PUNSUBSCRIBE', 'SUNSUBSCRIBE'],
])

/** Whether the command changes the connection when it is executed. */
export function isChange({ name }: Command): boolean {
  return changing.has(name)
}

/**
 * The reply of EXEC may have fewer elements than it announces, so that its end cannot be found: CLIENT REPLY
 * OFF and SKIP (redis, and valkey before 9), a login that fails (valkey 8).
 */
export function mayCutReply(command: Command): boolean {
  const { name, args, cutShort } = command
  if (name === 'CLIENT') return wordAt(command, 0) === 'REPLY' && wordAt(command, 1) !== 'ON'
  return name === 'AUTH' || (name === 'HELLO' && (cutShort || hasWord(args, 'AUTH')))
}

/** The commands that open it at another engine, of this `generation`; those without `must` may be refused, and some are meant to be. */
export function replayTransaction(
  { queued, broken, refused }: Transaction,
  generation: number,
): readonly { readonly bytes: Buffer; readonly must: boolean }[] {
  // One that an older engine does not know, or that has no room in its memory, is refused: EXEC then answers EXECABORT, as it does in any transaction.
  const again = (command: Command) => ({
    bytes: encodeCommand([command.name, ...argsForEngine(command, generation)]),
    must: false,
  })
  const multi = { bytes: encodeCommand(['MULTI']), must: true }
  // A command that the engine refuses makes it answer EXEC with EXECABORT.
  if (broken) return [multi, { bytes: encodeCommand(['GET']), must: false }]
  const misplaced = [...refused].map((name) => ({ bytes: encodeCommand(argumentsOf(name)), must: false }))
  return [multi, ...queued.map(again), ...misplaced]
}

/** The words of a command that is refused only because it is in a transaction. */
function argumentsOf(name: string): readonly string[] {
  return name === 'WATCH' ? [name, 'k'] : [name]
}
