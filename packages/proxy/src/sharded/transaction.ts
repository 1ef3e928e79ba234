import { encodeCommand, hashSlot, isReplyError, parseReply } from '@fairlead/engine'
import { answer, crossSlot, errorReply, ok } from './alone.ts'
import { ask, HOME, legTo, mention } from './legs.ts'
import type { Leg, Router, Transaction } from './router.ts'

/** Commands without a key that may wait for the first one with a key; beyond, the first group carries them out. */
const MOST_WAITING_BYTES = 64 * 1024

/** What becomes of a command inside of a transaction. */
export type Queueing =
  /** It goes to the leg of the transaction. */
  | { readonly kind: 'pass'; readonly leg: Leg }
  /** It has been answered. */
  | { readonly kind: 'answered' }
  /** First the transaction has to be begun (`bind`), then the command is looked at anew. */
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
  const { leg, broken } = transaction
  const { name, key, isStray, isSpecial, bytes } = command
  switch (name) {
    case 'QUIT':
    case 'RESET':
      return { kind: 'outside' }
    case 'EXEC':
      if (leg === null && !broken) return { kind: 'bind', slot: router.watchedSlot }
      return end(
        router,
        transaction,
        errorReply('EXECABORT Transaction discarded because of previous errors.'),
      )
    case 'DISCARD':
      // What is watched is forgotten with it, by the engine that watches.
      if (leg === null && router.watchedSlot >= 0) return { kind: 'bind', slot: router.watchedSlot }
      return end(router, transaction, ok)
    case 'MULTI':
    case 'WATCH':
      if (leg !== null) return { kind: 'pass', leg }
      // Whether EXEC is refused then, too, the engine that gets the transaction decides.
      router.transaction = withWaiting(transaction, nestedMulti)
      return say(router, name === 'MULTI' ? nested : watchInside)
    default:
  }
  if (isSpecial)
    return spoil(
      router,
      transaction,
      errorReply(`ERR ${name} cannot be part of a transaction in a sharded database`),
    )
  const slot = key === null ? -1 : hashSlot(key)
  const bound = leg === null ? router.watchedSlot : transaction.slot
  if (isStray || (slot >= 0 && bound >= 0 && slot !== bound)) return spoil(router, transaction, crossSlot)
  if (leg !== null) return { kind: 'pass', leg }
  if (broken) return say(router, queued)
  if (slot >= 0 || transaction.waitingBytes + bytes.length > MOST_WAITING_BYTES) return { kind: 'bind', slot }
  router.transaction = withWaiting(transaction, bytes)
  return say(router, queued)
}

function withWaiting(transaction: Transaction, bytes: Buffer): Transaction {
  const { waiting, waitingBytes } = transaction
  // One says as much as many of them.
  if (bytes === nestedMulti && waiting.at(-1) === bytes) return transaction
  // In place, since a copy for each command would make many of them slow. Nobody else has the list.
  const all = waiting as Buffer[]
  all.push(bytes)
  return { ...transaction, waitingBytes: waitingBytes + bytes.length }
}

const nestedMulti = encodeCommand(['MULTI'])

const queued = Buffer.from('+QUEUED\r\n')
const nested = errorReply('ERR MULTI calls can not be nested')
const watchInside = errorReply('ERR WATCH inside MULTI is not allowed')

function end(router: Router, { leg }: Transaction, reply: Buffer): Queueing {
  router.transaction = null
  router.watchedSlot = -1
  return leg === null ? say(router, reply) : { kind: 'pass', leg }
}

function say(router: Router, reply: Buffer): Queueing {
  answer(router, reply)
  return { kind: 'answered' }
}

/** Refuses a command; EXEC will then be refused as well, as engines do. */
function spoil(router: Router, transaction: Transaction, reply: Buffer): Queueing {
  const { leg } = transaction
  // A command that the engine refuses makes it answer EXEC with EXECABORT.
  if (leg !== null) mention(leg, ['GET'])
  router.transaction = { ...transaction, broken: true }
  return say(router, reply)
}

/**
 * Begins the transaction at the engine that holds `slot` (-1: any key will do), with what was queued so far. When the engine
 * refuses MULTI nothing of it may be sent.
 */
export async function bind(router: Router, transaction: Transaction, slot: number): Promise<null> {
  const leg = legTo(router, slot < 0 ? HOME : (router.shards.slots[slot] ?? HOME))
  const isBegun = !isReplyError(parseReply(await ask(leg, ['MULTI'])))
  if (!isBegun) {
    router.transaction = { ...transaction, broken: true }
    return null
  }
  for (const request of transaction.waiting) await ask(leg, request)
  router.transaction = { ...transaction, slot, leg, waiting: [], waitingBytes: 0 }
  return null
}
