import { encodeCommand, hashSlot, isReplyError, parseReply } from '@fairlead/engine'
import { ask, backendOfSlot, mention } from './backends.ts'
import { answer, crossSlot, errorReply, ok } from './exclusive.ts'
import type { Backend, Router, Transaction } from './router.ts'

/** How many commands without a key may wait for the first one with a key; beyond this, the first group executes them. */
const MOST_WAITING_BYTES = 64 * 1024

/** The treatment of a command inside of a transaction. */
export type Queueing =
  /** The command goes to the backend of the transaction. */
  | { readonly kind: 'pass'; readonly backend: Backend }
  /** The command has been answered. */
  | { readonly kind: 'answered' }
  /** First the transaction has to be begun (`bind`), then the command is handled again. */
  | { readonly kind: 'bind'; readonly slot: number }
  /** The command is treated as if there were no transaction. */
  | { readonly kind: 'outside' }

interface QueuedCommand {
  readonly name: string
  readonly key: Buffer | null
  /** Other keys of it belong to other slots. */
  readonly isStray: boolean
  readonly isSpecial: boolean
  readonly bytes: Buffer
}

/** A command that comes while a transaction is open; `key` is its first. */
export function queueCommand(router: Router, transaction: Transaction, command: QueuedCommand): Queueing {
  const { backend, broken } = transaction
  switch (command.name) {
    case 'QUIT':
    case 'RESET':
      return { kind: 'outside' }
    case 'EXEC':
      if (backend === null && !broken) return { kind: 'bind', slot: router.watchedSlot }
      return end(router, transaction, aborted)
    case 'DISCARD':
      // The engine that watches forgets the watched keys with it.
      if (backend === null && !broken && router.watchedSlot >= 0)
        return { kind: 'bind', slot: router.watchedSlot }
      return end(router, transaction, ok)
    case 'MULTI':
    case 'WATCH':
      if (backend !== null) return { kind: 'pass', backend }
      // The engine that gets the transaction decides whether EXEC is refused then, too.
      router.transaction = withWaiting(transaction, nestedMulti)
      return say(router, command.name === 'MULTI' ? nested : watchInside)
    default:
      return queueOther(router, transaction, command)
  }
}

function queueOther(
  router: Router,
  transaction: Transaction,
  { name, key, isStray, isSpecial, bytes }: QueuedCommand,
): Queueing {
  const { backend, broken } = transaction
  if (isSpecial) return spoil(router, transaction, notInTransaction(name))
  const slot = key === null ? -1 : hashSlot(key)
  const bound = backend === null ? router.watchedSlot : transaction.slot
  if (isStray || (slot >= 0 && bound >= 0 && slot !== bound)) return spoil(router, transaction, crossSlot)
  if (backend !== null) return passKey(router, transaction, backend, slot)
  if (broken) return say(router, queued)
  if (slot >= 0 || transaction.waitingBytes + bytes.length > MOST_WAITING_BYTES)
    return { kind: 'bind', slot: Math.max(slot, bound) }
  router.transaction = withWaiting(transaction, bytes)
  return say(router, queued)
}

/** The first key of a transaction that began without one has to be in the group that has its commands. */
function passKey(router: Router, transaction: Transaction, backend: Backend, slot: number): Queueing {
  if (slot < 0 || transaction.slot >= 0) return { kind: 'pass', backend }
  if (router.shards.slots[slot] !== backend.group) return spoil(router, transaction, crossSlot)
  router.transaction = { ...transaction, slot }
  return { kind: 'pass', backend }
}

function withWaiting(transaction: Transaction, bytes: Buffer): Transaction {
  const { waiting, waitingBytes } = transaction
  // One refused command is as good as many.
  if (bytes === nestedMulti && waiting.at(-1) === bytes) return transaction
  // Changed in place, because a copy for each command would make many of them slow. There is no other reference to the list.
  const all = waiting as Buffer[]
  all.push(bytes)
  return { ...transaction, waitingBytes: waitingBytes + bytes.length }
}

const nestedMulti = encodeCommand(['MULTI'])

const queued = Buffer.from('+QUEUED\r\n')
const nested = errorReply('ERR MULTI calls can not be nested')
const aborted = errorReply('EXECABORT Transaction discarded because of previous errors.')
const notInTransaction = (name: string) =>
  errorReply(`ERR ${name} cannot be part of a transaction in a sharded database`)
const watchInside = errorReply('ERR WATCH inside MULTI is not allowed')

function end(router: Router, { backend }: Transaction, reply: Buffer): Queueing {
  router.transaction = null
  // The engine of the watched keys got nothing of this transaction, and would answer a later one with nil.
  if (backend === null && router.watchedSlot >= 0)
    mention(backendOfSlot(router, router.watchedSlot), ['UNWATCH'])
  router.watchedSlot = -1
  return backend === null ? say(router, reply) : { kind: 'pass', backend }
}

function say(router: Router, reply: Buffer): Queueing {
  answer(router, reply)
  return { kind: 'answered' }
}

/** Refuses a command; EXEC will then be refused as well, as engines do. */
function spoil(router: Router, transaction: Transaction, reply: Buffer): Queueing {
  const { backend } = transaction
  // A command that the engine refuses makes it answer EXEC with EXECABORT.
  if (backend !== null) mention(backend, ['GET'])
  router.transaction = { ...transaction, broken: true }
  return say(router, reply)
}

/**
 * Begins the transaction at the engine that holds `slot` (-1: at the default group), with the commands queued so far. When the engine
 * refuses MULTI, none of them may be sent.
 */
export async function bind(router: Router, transaction: Transaction, slot: number): Promise<null> {
  const backend = backendOfSlot(router, slot)
  const isBegun = !isReplyError(parseReply(await ask(backend, ['MULTI'])))
  if (!isBegun) {
    router.transaction = { ...transaction, broken: true }
    return null
  }
  for (const request of transaction.waiting) await ask(backend, request)
  router.transaction = { ...transaction, slot, backend, waiting: [], waitingBytes: 0 }
  return null
}
