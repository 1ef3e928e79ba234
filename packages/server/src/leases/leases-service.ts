import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { bucketOf, type Singleton, singletons } from '../core/state/bucket.ts'
import type { Db, Store } from '../store/open-store.ts'
import { type BucketHolder, createBucketHolder } from './bucket-holder.ts'
import { LeaseLost } from './lease-lost.ts'
import { leasesStore } from './leases-store.ts'

/**
 * The databases of this server, if several share a store. After disposal, others take them within a second.
 */
export interface Leases extends AsyncDisposable {
  /**
   * The epoch of a database that this server holds for at least `forMs`, by this machine's clock; undefined:
   * another server may hold it.
   */
  heldEpoch(databaseUid: number, forMs?: number): number | undefined
  /** Like `heldEpoch`, but throws LeaseLost. */
  epochOf(databaseUid: number, forMs?: number): number
  /**
   * Called when an agent has seen a higher epoch: if this server still holds the bucket, its store was
   * restored to an older state.
   */
  raise(databaseUid: number): Promise<void>
  /** The epoch of the present holder. */
  knownEpoch(databaseUid: number): Promise<number>
  /**
   * Returns the stored epoch after an agent refused `knownEpoch`. Raises it first if this server holds the
   * bucket.
   */
  epochAfterRefusal(databaseUid: number): Promise<number>
  /** When this server took it, by this machine's clock: others did nothing later. Throws LeaseLost. */
  heldSince(databaseUid: number): number
  isOurs(what: Singleton): boolean
  /**
   * The first statement of a transaction that writes under `epoch`: it commits only while the epoch holds.
   * Throws LeaseLost.
   */
  fence(databaseUid: number, epoch: number): (within: Db) => Promise<void>
  /** Runs work on a database, and keeps its bucket until the end. */
  during<T>(databaseUid: number, work: () => Promise<T>): Promise<T>
  /** Reports buckets that are newly held, or certain again. */
  onTaken(listener: (buckets: ReadonlySet<number>) => Promise<void>): void
}

const LOOK_EVERY_MS = 1_000
const RENEW_EVERY_MS = 5_000

interface LeasesDeps {
  readonly store: Store
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number
}

/** Takes and keeps this server's share of the buckets: all, forever, if the store is not shared. */
export async function createLeases(deps: LeasesDeps): Promise<Leases> {
  const { store, log, elapsed = () => performance.now() } = deps
  const holder = createBucketHolder({ store, log, elapsed })
  const find = (uid: number, forMs?: number) => {
    const one = holder.find(bucketOf(uid), forMs)
    if (one === undefined) throw new LeaseLost(uid)
    return one
  }
  const epochInStore = (uid: number) => leasesStore(store.db, store).epochOf(bucketOf(uid))
  if (store.isShared) await holder.renew()
  await holder.look()
  const beat = store.isShared ? startBeat(holder, log) : undefined
  return {
    heldEpoch: (uid, forMs) => holder.find(bucketOf(uid), forMs)?.epoch,
    epochOf: (uid, forMs) => find(uid, forMs).epoch,
    raise: (uid) => holder.raise(bucketOf(uid)),
    knownEpoch: async (uid) => holder.find(bucketOf(uid))?.epoch ?? (await epochInStore(uid)),
    async epochAfterRefusal(uid) {
      await holder.raise(bucketOf(uid))
      return await epochInStore(uid)
    },
    heldSince: (uid) => find(uid).since,
    isOurs: (what) => holder.find(singletons[what]) !== undefined,
    fence: (uid, epoch) => async (within) => {
      const isHeld = await leasesStore(within, store).isHeld(holder.name, { bucket: bucketOf(uid), epoch })
      if (!isHeld) throw new LeaseLost(uid)
    },
    async during(uid, work) {
      using _working = holder.beginWork(bucketOf(uid)) ?? lost(uid)
      return await work()
    },
    onTaken: holder.onTaken,
    async [Symbol.asyncDispose]() {
      await beat?.[Symbol.asyncDispose]()
      await holder.leave()
    },
  }
}

function lost(uid: number): never {
  throw new LeaseLost(uid)
}

/**
 * Looks for free buckets every second, never twice at a time. Renews every five seconds without waiting:
 * PostgreSQL may have lost the previous renewal.
 */
function startBeat({ look, renew }: BucketHolder, log: Pick<Logger, 'warn'>): AsyncDisposable {
  const running = new Set<Promise<void>>()
  let said = ''
  const tell = (cause: unknown) => {
    const why = messageOf(cause)
    if (why !== said) log.warn({ why }, 'leases could not be renewed')
    said = why
  }
  let isLooking = false
  const run = (work: Promise<void>) => {
    const done = work
      .then(() => {
        said = ''
      }, tell)
      .finally(() => running.delete(done))
    running.add(done)
    return done
  }
  const looking = setInterval(() => {
    if (isLooking) return
    isLooking = true
    void run(look()).finally(() => {
      isLooking = false
    })
  }, LOOK_EVERY_MS)
  const renewing = setInterval(() => void run(renew()), RENEW_EVERY_MS)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(looking)
      clearInterval(renewing)
      await Promise.all(running)
    },
  }
}
