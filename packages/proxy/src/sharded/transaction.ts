import { encodeCommand, hashSlot, isReplyError, parseReply } from '@fairlead/engine'
import { ask, backendOfSlot, mention } from './backends.ts'
import { answer, crossSlot, errorReply, ok } from './exclusive.ts'
import type { Backend, Router, Transaction } from './router.ts'

/** Limit of commands without a key that wait for the first key; beyond it, the first group executes them. */
const MOST_WAITING_BYTES = 64 * 1024

/** Treatment of a command inside of a transaction. */
export type Queueing =
  /** The command goes to the transaction's backend. */
  | { readonly kind: 'pass'; readonly backend: Backend }
  /** The command has been answered. */
  | { readonly kind: 'answered' }
  /** The transaction must begin first (`bind`), then the command is handled again. */
  | { readonly kind: 'bind'; readonly slot: number }
  /** The command is treated as if there were no transaction. */
  | { readonly kind: 'outside' }

interface QueuedCommand {
  readonly name: string
  readonly key: Buffer | null
  /** True if some of its keys belong to other slots. */
  readonly isStray: boolean
  readonly isSpecial: boolean
  readonly bytes: Buffer
}

/** Handles a command in an open transaction. `key`: its first key. */
export function queueCommand(router: Router, transaction: Transaction, command: QueuedCommand): Queueing {
  const { backend, broken } = transaction
  switch (command.name) {
    case 'QUIT':
    case 'RESET':
      return { kind: 'outside' }
    case 'EXEC':
      if (backend === null && !broken) return { kind: 'bind', slot: router.session.watchedSlot }
      return end(router, transaction, aborted)
    case 'DISCARD':
      // This also makes the engine forget the watched keys.
      if (backend === null && !broken && router.session.watchedSlot >= 0)
        return { kind: 'bind', slot: router.session.watchedSlot }
      return end(router, transaction, ok)
    case 'MULTI':
    case 'WATCH':
      if (backend !== null) return { kind: 'pass', backend }
      // The engine that gets the transaction decides if EXEC is refused, too.
      router.session.transaction = withWaiting(transaction, nestedMulti)
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
  const bound = backend === null ? router.session.watchedSlot : transaction.slot
  if (isStray || (slot >= 0 && bound >= 0 && slot !== bound)) return spoil(router, transaction, crossSlot)
  if (backend !== null) return passKey(router, transaction, backend, slot)
  if (broken) return say(router, queued)
  if (slot >= 0 || transaction.waitingBytes + bytes.length > MOST_WAITING_BYTES)
    return { kind: 'bind', slot: Math.max(slot, bound) }
  router.session.transaction = withWaiting(transaction, bytes)
  return say(router, queued)
}

/** If a transaction began without a key, its first key must be in the group that has its commands. */
function passKey(router: Router, transaction: Transaction, backend: Backend, slot: number): Queueing {
  if (slot < 0 || transaction.slot >= 0) return { kind: 'pass', backend }
  if (router.shards.slots[slot] !== backend.group) return spoil(router, transaction, crossSlot)
  router.session.transaction = { ...transaction, slot }
  return { kind: 'pass', backend }
}

function withWaiting(transaction: Transaction, bytes: Buffer): Transaction {
  const { waiting, waitingBytes } = transaction
  // One refused command has the effect of many.
  if (bytes === nestedMulti && waiting.at(-1) === bytes) return transaction
  // Changed in place: a copy for each command would be slow, and nothing else refers to the list.
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
  router.session.transaction = null
  // The engine of the watched keys got nothing of this transaction, and would answer a later one with nil.
  if (backend === null && router.session.watchedSlot >= 0)
    mention(backendOfSlot(router, router.session.watchedSlot), ['UNWATCH'])
  router.session.watchedSlot = -1
  return backend === null ? say(router, reply) : { kind: 'pass', backend }
}

function say(router: Router, reply: Buffer): Queueing {
  answer(router, reply)
  return { kind: 'answered' }
}

/** Refuses a command; EXEC is then refused as well, as by engines. */
function spoil(router: Router, transaction: Transaction, reply: Buffer): Queueing {
  const { backend } = transaction
  // A refused command makes the engine answer EXEC with EXECABORT.
  if (backend !== null) mention(backend, ['GET'])
  router.session.transaction = { ...transaction, broken: true }
  return say(router, reply)
}

/**
 * Begins the transaction at the engine with `slot` (-1: default group), with the commands queued so far. If
 * the engine refuses MULTI, none of them may be sent.
 */
export async function bind(router: Router, transaction: Transaction, slot: number): Promise<null> {
  const backend = backendOfSlot(router, slot)
  const isBegun = !isReplyError(parseReply(await ask(backend, ['MULTI'])))
  if (!isBegun) {
    router.session.transaction = { ...transaction, broken: true }
    return null
  }
  for (const request of transaction.waiting) await ask(backend, request)
  router.session.transaction = { ...transaction, slot, backend, waiting: [], waitingBytes: 0 }
  return null
}
