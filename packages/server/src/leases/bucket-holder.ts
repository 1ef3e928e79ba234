import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { bucketsToTake, goodUntil } from '../core/state/bucket.ts'
import type { Store } from '../store/open-store.ts'
import { type Claimed, leasesStore } from './leases-store.ts'

/** A bucket of this server. Times are from its own monotonic clock. */
export interface HeldBucket {
  readonly epoch: number
  /** No earlier server did anything after this time. */
  readonly since: number
  readonly goodUntil: number
}

interface Held extends HeldBucket {
  epoch: number
  goodUntil: number
  /** Must be handed back. */
  isLeaving: boolean
  /** Running pieces of work. */
  working: number
}

interface Deps {
  readonly store: Store
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly elapsed: () => number
}

export type BucketHolder = ReturnType<typeof createBucketHolder>

/** This server's known buckets. Creates a holder without buckets. */
export function createBucketHolder({ store, log, elapsed }: Deps) {
  const me = `${hostname()}:${process.pid}:${randomUUID()}`
  const leases = leasesStore(store.dbOfLeases, store)
  const held = new Map<number, Held>()
  /** Buckets without work that other servers cannot take yet. */
  const givenUp = new Set<number>()
  const listeners: ((buckets: ReadonlySet<number>) => Promise<void>)[] = []
  const tell = async (buckets: ReadonlySet<number>) => {
    for (const listener of listeners) await listener(buckets)
  }
  return {
    /** This server's name in the store. */
    name: me,
    /** Undefined: the lease is not certain for `forMs`. */
    find(bucket: number, forMs: number = 0): HeldBucket | undefined {
      const one = held.get(bucket)
      return one !== undefined && elapsed() + forMs < one.goodUntil ? one : undefined
    },
    /** Keeps the bucket until disposed of. Undefined: no work may begin. */
    beginWork(bucket: number): Disposable | undefined {
      const one = held.get(bucket)
      if (one === undefined || one.isLeaving) return undefined
      one.working += 1
      return {
        [Symbol.dispose]() {
          one.working -= 1
        },
      }
    },
    /** Hands back surplus buckets, and takes missing ones. */
    async look(): Promise<void> {
      await leases.shorten()
      const wanted = bucketsToTake(staying(held).length, store.isShared ? await leases.countServers() : 1)
      for (const bucket of giveUp(held, -wanted)) givenUp.add(bucket)
      await leases.handBack(me, [...givenUp])
      givenUp.clear()
      if (wanted <= 0 || (await leases.countFree()) === 0) return
      const taken = await take(wanted, held, { me, store, elapsed })
      log.info({ taken: taken.size, held: held.size }, 'leases were taken')
      await tell(taken)
    },
    /** Also records that this server is alive. */
    async renew(): Promise<void> {
      const again = await renew(held, { me, store, elapsed })
      await leases.see(me)
      if (again.size > 0) await tell(again)
    },
    /** Raises the bucket's epoch if this server holds it, because agents have seen a higher one. */
    raise: (bucket: number) => raise(held.get(bucket), bucket, me, store),
    /** Others may take all of them immediately. */
    async leave(): Promise<void> {
      held.clear()
      await leases.leave(me).catch((cause: unknown) => {
        log.warn({ why: messageOf(cause) }, 'leases could not be handed back: they expire by themselves')
      })
    },
    /** Reports buckets that are newly taken, or certain again. */
    onTaken: (listener: (buckets: ReadonlySet<number>) => Promise<void>) => void listeners.push(listener),
  }
}

async function raise(one: Held | undefined, bucket: number, me: string, store: Store): Promise<void> {
  const raised = one && (await raiseEpoch(store, me, { bucket, epoch: one.epoch }))
  if (one !== undefined && raised !== undefined) one.epoch = raised
}

function staying(held: ReadonlyMap<number, Held>): readonly Held[] {
  return [...held.values()].filter(({ isLeaving }) => !isLeaving)
}

/** Marks `tooMany` more buckets as leaving. Removes and returns leaving ones without work. */
function giveUp(held: Map<number, Held>, tooMany: number): readonly number[] {
  for (const one of tooMany > 0 ? staying(held).slice(-tooMany) : []) one.isLeaving = true
  const idle = [...held].filter(([, one]) => one.isLeaving && one.working === 0).map(([bucket]) => bucket)
  for (const bucket of idle) held.delete(bucket)
  return idle
}

type Taking = Pick<Deps, 'store' | 'elapsed'> & { readonly me: string }

/** Returns buckets that were uncertain until now: the store still had them. */
async function renew(held: Map<number, Held>, { me, store, elapsed }: Taking): Promise<ReadonlySet<number>> {
  const sentAt = elapsed()
  const before = [...held]
  const renewed = await leasesStore(store.dbOfLeases, store).renew(me, [...held.keys()])
  const epochs = new Map(renewed.map(({ bucket, epoch }) => [bucket, epoch]))
  const again = new Set<number>()
  for (const [bucket, one] of before) {
    if (epochs.get(bucket) !== one.epoch) {
      if (held.get(bucket) === one) held.delete(bucket)
    } else {
      const wasOver = one.goodUntil <= elapsed()
      one.goodUntil = Math.max(one.goodUntil, goodUntil(sentAt))
      if (wasOver && elapsed() < one.goodUntil) again.add(bucket)
    }
  }
  return again
}

async function take(
  most: number,
  held: Map<number, Held>,
  { me, store, elapsed }: Taking,
): Promise<ReadonlySet<number>> {
  const sentAt = elapsed()
  const taken = await store.transaction((db) => leasesStore(db, store).claim(me, most))
  const times = store.isShared
    ? { since: elapsed(), goodUntil: goodUntil(sentAt) }
    : { since: 0, goodUntil: Number.POSITIVE_INFINITY }
  for (const { bucket, epoch } of taken) held.set(bucket, { epoch, ...times, isLeaving: false, working: 0 })
  return new Set(taken.map(({ bucket }) => bucket))
}

/** More steps than a restored store can have missed. */
const STEP = 1_000

/**
 * Raises the epoch of a bucket after agents or proxies have seen a higher one than its holder, whose store is
 * therefore old. The same transaction proves the lease of `me`. Returns the new epoch; undefined: `me` does
 * not hold the bucket under this one.
 */
async function raiseEpoch(store: Store, me: string, { bucket, epoch }: Claimed): Promise<number | undefined> {
  return await store.transaction(async (db) => {
    if (!(await leasesStore(db, store).isHeld(me, { bucket, epoch }))) return undefined
    const raised = epoch + STEP
    await db.updateTable('buckets').set({ epoch: raised }).where('bucket', '=', bucket).execute()
    return raised
  })
}
