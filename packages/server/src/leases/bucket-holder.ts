import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { bucketsToTake, goodUntil } from '../core/state/bucket.ts'
import type { Store } from '../store/open-store.ts'
import { leasesStore } from './leases-store.ts'
import { raiseEpoch } from './raise-epoch.ts'

/** A bucket that this server holds. Times by its own clock, which only rises. */
export interface HeldBucket {
  readonly epoch: number
  /** No server before it has done anything later. */
  readonly since: number
  readonly goodUntil: number
}

/** The buckets of this server, as it knows them. */
export interface BucketHolder {
  /** This server, as the store knows it. */
  readonly me: string
  /** Undefined where it may not be relied on for `forMs`. */
  find(bucket: number, forMs?: number): HeldBucket | undefined
  /** While it is not disposed of, the bucket is not handed back. Undefined: no work is to be begun on it. */
  beginWork(bucket: number): Disposable | undefined
  /** Hands back what is too much and takes what is missing. */
  look(): Promise<void>
  /** Also says that this server is there. */
  renew(): Promise<void>
  /** Agents have seen a higher epoch: gives the bucket one, where it is held. */
  raise(bucket: number): Promise<void>
  /** Others may take all of them at once. */
  leave(): Promise<void>
  /** Called with the buckets that are taken, from now on. */
  onTaken(listener: (buckets: ReadonlySet<number>) => Promise<void>): void
}

interface Held extends HeldBucket {
  epoch: number
  goodUntil: number
  /** It is to be handed back. */
  isLeaving: boolean
  /** Pieces of work on it. */
  working: number
}

interface Deps {
  readonly store: Store
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly elapsed: () => number
}

/** None is held yet. */
export function createBucketHolder({ store, log, elapsed }: Deps): BucketHolder {
  const me = `${hostname()}:${process.pid}:${randomUUID()}`
  const leases = leasesStore(store.db, store)
  const held = new Map<number, Held>()
  const listeners: ((buckets: ReadonlySet<number>) => Promise<void>)[] = []
  return {
    me,
    find(bucket, forMs = 0) {
      const one = held.get(bucket)
      return one !== undefined && elapsed() + forMs < one.goodUntil ? one : undefined
    },
    beginWork(bucket) {
      const one = held.get(bucket)
      if (one === undefined || one.isLeaving) return undefined
      one.working += 1
      return {
        [Symbol.dispose]() {
          one.working -= 1
        },
      }
    },
    async look() {
      const staying = [...held.values()].filter(({ isLeaving }) => !isLeaving)
      const wanted = bucketsToTake(staying.length, store.isShared ? await leases.countServers() : 1)
      for (const one of wanted < 0 ? staying.slice(wanted) : []) one.isLeaving = true
      const idle = [...held].filter(([, one]) => one.isLeaving && one.working === 0).map(([bucket]) => bucket)
      for (const bucket of idle) held.delete(bucket)
      await leases.handBack(me, idle)
      if (wanted <= 0 || (await leases.countFree()) === 0) return
      const taken = await take(wanted, held, { me, store, elapsed })
      log.info({ taken: taken.size, held: held.size }, 'leases were taken')
      for (const listener of listeners) await listener(taken)
    },
    async renew() {
      const sentAt = elapsed()
      const before = [...held]
      const renewed = new Map((await leases.renew(me)).map(({ bucket, epoch }) => [bucket, epoch]))
      for (const [bucket, one] of before) {
        if (renewed.get(bucket) === one.epoch) one.goodUntil = Math.max(one.goodUntil, goodUntil(sentAt))
        else if (held.get(bucket) === one) held.delete(bucket)
      }
      await leases.see(me)
    },
    raise: (bucket) => raise(me, held.get(bucket), bucket, store),
    async leave() {
      held.clear()
      await leases.leave(me).catch((cause: unknown) => {
        log.warn({ why: messageOf(cause) }, 'leases could not be handed back: they run out by themselves')
      })
    },
    onTaken: (listener) => void listeners.push(listener),
  }
}

async function raise(me: string, one: Held | undefined, bucket: number, store: Store): Promise<void> {
  const raised = one && (await raiseEpoch(store, me, { bucket, epoch: one.epoch }))
  if (one !== undefined && raised !== undefined) one.epoch = raised
}

async function take(
  most: number,
  held: Map<number, Held>,
  { me, store, elapsed }: Pick<Deps, 'store' | 'elapsed'> & { readonly me: string },
): Promise<ReadonlySet<number>> {
  const sentAt = elapsed()
  const taken = await store.transaction((db) => leasesStore(db, store).claim(me, most))
  const times = store.isShared
    ? { since: elapsed(), goodUntil: goodUntil(sentAt) }
    : { since: 0, goodUntil: Number.POSITIVE_INFINITY }
  for (const { bucket, epoch } of taken) held.set(bucket, { epoch, ...times, isLeaving: false, working: 0 })
  return new Set(taken.map(({ bucket }) => bucket))
}
