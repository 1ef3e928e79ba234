import { encodeCommand, hashSlot, isReplyError, parseReply } from '@fairlead/engine'
import { ask, backendOfSlot, mention } from './backends.ts'
import { answer, crossSlot, errorReply, ok } from './exclusive.ts'
import type { Backend, Router, Transaction } from './router.ts'

/** Commands without a key that may wait for the first one with a key; beyond, the first group carries them out. */
const MOST_WAITING_BYTES = 64 * 1024

/** What becomes of a command inside of a transaction. */
export type Queueing =
  /** It goes to the backend of the transaction. */
  | { readonly kind: 'pass'; readonly backend: Backend }
  /** It has been answered. */
  | { readonly kind: 'answered' }
  /** First the transaction has to be begun (`bind`), then the command is handled again. */
  | { readonly kind: 'bind'; readonly slot: number }
  /** As if there were no transaction. */
  | { readonly kind: 'outside' }

/** A command that comes while a transaction is open; `key` is its first. */
export function queueCommand(
  router: Router,
  transaction: Transaction,
  command: {
    readonly name: string
    readonly key: Buffer | null
    /** Others of its keys are of other slots. */
    readonly isStray: boolean
    readonly isSpecial: boolean
    readonly bytes: Buffer
  },
): Queueing {
  const { backend, broken } = transaction
  const { name, key, isStray, isSpecial, bytes } = command
  switch (name) {
    case 'QUIT':
    case 'RESET':
      return { kind: 'outside' }
    case 'EXEC':
      if (backend === null && !broken) return { kind: 'bind', slot: router.watchedSlot }
      return end(router, transaction, aborted)
    case 'DISCARD':
      // What is watched is forgotten with it, by the engine that watches.
      if (backend === null && router.watchedSlot >= 0) return { kind: 'bind', slot: router.watchedSlot }
      return end(router, transaction, ok)
    case 'MULTI':
    case 'WATCH':
      if (backend !== null) return { kind: 'pass', backend }
      // Whether EXEC is refused then, too, the engine that gets the transaction decides.
      router.transaction = withWaiting(transaction, nestedMulti)
      return say(router, name === 'MULTI' ? nested : watchInside)
    default:
  }
  if (isSpecial) return spoil(router, transaction, notInTransaction(name))
  const slot = key === null ? -1 : hashSlot(key)
  const bound = backend === null ? router.watchedSlot : transaction.slot
  if (isStray || (slot >= 0 && bound >= 0 && slot !== bound)) return spoil(router, transaction, crossSlot)
  if (backend !== null) return { kind: 'pass', backend }
  if (broken) return say(router, queued)
  if (slot >= 0 || transaction.waitingBytes + bytes.length > MOST_WAITING_BYTES) return { kind: 'bind', slot }
  router.transaction = withWaiting(transaction, bytes)
  return say(router, queued)
}

function withWaiting(transaction: Transaction, bytes: Buffer): Transaction {
  const { waiting, waitingBytes } = transaction
  // One says as much as many of them.
  if (bytes === nestedMulti && waiting.at(-1) === bytes) return transaction
  // In place, since a copy for each command would make many of them slow. There is no other reference to the list.
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
 * Begins the transaction at the engine that holds `slot` (-1: any key will do), with what was queued so far. When the engine
 * refuses MULTI nothing of it may be sent.
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
