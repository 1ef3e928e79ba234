import type { Effect, EffectRunner } from '@fairlead/engine'
import { bucketOf } from '../../core/state/bucket.ts'
import { LeaseLost } from '../../leases/lease-lost.ts'
import type { Leases } from '../../leases/leases-service.ts'
import type { Records } from '../records/stored-records.ts'
import { createOrdersToServe } from '../turn/orders-to-serve.ts'
import { createPreparations, type Preparations } from '../turn/preparations.ts'
import type { Reach, Reaches } from '../turn/reach.ts'
import { createTakeovers } from '../turn/take-over.ts'
import { realTime } from '../turn/time.ts'
import { createTurnMemory, type TurnMemory } from '../turn/turn-memory.ts'
import type { TurnPorts } from './turn-ports.ts'

/** Ports of a turn that outlive a lease. The others are created for each lease. */
export type GivenPorts = Omit<
  TurnPorts,
  'preparations' | 'takeovers' | 'ordersToServe' | 'time' | keyof Records | keyof Reach
> &
  EffectRunner & { readonly reachUnder: Reaches['under'] }

/** Ports for the turns of databases that this server holds. Dispose to end what they have begun. */
export interface HeldPorts extends AsyncDisposable {
  /** Knowledge is dropped with its lease: another server may have acted since. Throws LeaseLost. */
  of(databaseUid: number): { readonly ports: TurnPorts; readonly memory: TurnMemory }
  /** Like TurnMemory.allAgain, for all databases. */
  allAgain(words: string): void
}

interface Lease {
  readonly epoch: number
  readonly memory: TurnMemory
  readonly preparations: Preparations
  readonly own: Pick<TurnPorts, 'preparations' | 'takeovers' | 'ordersToServe' | 'time'>
}

/** No effect begins that may outlast the lease: clients are held for at most 2 s. */
const EFFECT_NEEDS_MS = 2_500

/** `recordsUnder`: returns the records of a database, writable only while it is held under that epoch. */
export function createHeldPorts(
  given: GivenPorts,
  leases: Pick<Leases, 'epochOf' | 'heldSince'>,
  recordsUnder: (databaseUid: number, epoch: number) => Records,
): HeldPorts {
  const known = new Map<number, Lease>()
  const ending = new Set<Promise<void>>()
  const end = (lease: Lease) => {
    const ended = Promise.resolve(lease.preparations[Symbol.asyncDispose]()).finally(() =>
      ending.delete(ended),
    )
    ending.add(ended)
  }
  const leaseOf = (uid: number): Lease => {
    const [bucket, epoch] = [bucketOf(uid), leases.epochOf(uid)]
    const before = known.get(bucket)
    if (before?.epoch === epoch) return before
    if (before !== undefined) end(before)
    const lease = beginLease(epoch, leases.heldSince(uid))
    known.set(bucket, lease)
    return lease
  }
  return {
    of(uid) {
      const { epoch, memory, own } = leaseOf(uid)
      const effect: Effect = (name, carryOut) => {
        if (leases.epochOf(uid, EFFECT_NEEDS_MS) !== epoch) throw new LeaseLost(uid)
        return given.effect(name, carryOut)
      }
      const fenced = { ...recordsUnder(uid, epoch), ...given.reachUnder(uid, epoch) }
      return { ports: { ...given, ...fenced, ...own, effect }, memory }
    },
    allAgain(words) {
      for (const { memory } of known.values()) memory.allAgain(words)
    },
    async [Symbol.asyncDispose]() {
      for (const lease of known.values()) end(lease)
      known.clear()
      await Promise.all(ending)
    },
  }
}

function beginLease(epoch: number, since: number): Lease {
  const preparations = createPreparations()
  const takeovers = createTakeovers(realTime, since)
  const own = { preparations, takeovers, ordersToServe: createOrdersToServe(), time: realTime }
  return { epoch, memory: createTurnMemory(), preparations, own }
}
