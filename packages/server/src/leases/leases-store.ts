import { randomInt } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { LEASE_MS } from '../core/state/bucket.ts'
import type { Db, Store } from '../store/open-store.ts'

/** A bucket as its holder knows it: each holder has a higher epoch than the one before. */
export interface Claimed {
  readonly bucket: number
  readonly epoch: number
}

/** Which server holds which bucket. The time is that of the store: no clock of a server is compared with another's. */
export interface LeasesStore {
  /** Notes that a server is there, and forgets those that have not been for a day. */
  see(me: string): Promise<void>
  /** Of servers that were seen within the length of a lease; at least 1. */
  countServers(): Promise<number>
  /** How many buckets are free. */
  countFree(): Promise<number>
  /**
   * Where the clock of PostgreSQL was set back, or another machine's counts since a failover, leases would last for as long as it was ahead, also those of servers that are
   * gone: none lasts longer than one that is given now.
   */
  shorten(): Promise<void>
  /** Takes up to `most` free buckets. Call it in a transaction, so that what is fenced in others has ended. */
  claim(me: string, most: number): Promise<readonly Claimed[]>
  /** Renews those of `buckets` that this server still holds, and answers them. Leases that it does not know to hold run out. */
  renew(me: string, buckets: readonly number[]): Promise<readonly Claimed[]>
  /** Others may take them at once. */
  handBack(me: string, buckets: readonly number[]): Promise<void>
  leave(me: string): Promise<void>
  /** The epoch of its last holder. */
  epochOf(bucket: number): Promise<number>
  /** Does this server still hold it under this epoch? In a transaction this is so until its end. */
  isHeld(me: string, claimed: Claimed): Promise<boolean>
}

/**
 * By how much an epoch rises at most when a bucket is claimed. The step is random: so a server whose store was put back to an older state (a backup, a replica that lacked the
 * last second) does not get the same epoch as a server that still works. The server with the lower epoch is refused, and raises it if it is the holder (raise-epoch.ts).
 */
const MOST_STEP = 256

const DAY_MS = 86_400_000

/** Longer than any server runs. */
const FOR_EVER = Number.MAX_SAFE_INTEGER

/** Through `db`, which may be a transaction. On a store that is not shared no lease runs out. */
export function leasesStore(db: Db, { isShared }: Pick<Store, 'isShared'>): LeasesStore {
  // Not now(), which is when the transaction began: it may have waited for its turn since.
  const now: RawBuilder<number> = isShared
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`0`
  const until = isShared ? sql<number>`${now} + ${sql.lit(LEASE_MS)}` : sql<number>`${sql.lit(FOR_EVER)}`
  // Alone on its store, a server takes those of one that was killed, too.
  const free = () =>
    isShared ? db.selectFrom('buckets').where('expires_at', '<=', now) : db.selectFrom('buckets')
  const claimed = ['bucket', 'epoch'] as const
  return {
    see: (me) => see(db, me, now),
    countServers: () => countServers(db, now),
    async shorten() {
      if (isShared) await shorten(db, { now, until })
    },
    async countFree() {
      const count = free().select((eb) => eb.fn.countAll<number>().as('count'))
      return Number((await count.executeTakeFirstOrThrow()).count)
    },
    async claim(me, most) {
      return await db
        .updateTable('buckets')
        .set({ holder: me, epoch: nextEpoch(), expires_at: until })
        .where('bucket', 'in', free().select('bucket').orderBy('bucket').limit(most))
        .returning(claimed)
        .execute()
    },
    async renew(me, buckets) {
      if (buckets.length === 0) return []
      return await db
        .updateTable('buckets')
        .set({ expires_at: until })
        .where('holder', '=', me)
        .where('bucket', 'in', [...buckets])
        .where('expires_at', '>', now)
        .returning(claimed)
        .execute()
    },
    async handBack(me, buckets) {
      if (buckets.length === 0) return
      const own = db.updateTable('buckets').set({ holder: null, expires_at: 0 }).where('holder', '=', me)
      await own.where('bucket', 'in', [...buckets]).execute()
    },
    async leave(me) {
      await db.updateTable('buckets').set({ holder: null, expires_at: 0 }).where('holder', '=', me).execute()
      await db.deleteFrom('servers').where('name', '=', me).execute()
    },
    async epochOf(bucket) {
      const row = db.selectFrom('buckets').select('epoch').where('bucket', '=', bucket)
      return Math.max(1, (await row.executeTakeFirstOrThrow()).epoch)
    },
    async isHeld(me, { bucket, epoch }) {
      const own = db.selectFrom('buckets').select('bucket').where('holder', '=', me)
      const row = own.where('bucket', '=', bucket)
      const held = await row.where('epoch', '=', epoch).where('expires_at', '>', now).executeTakeFirst()
      return held !== undefined
    },
  }
}

async function see(db: Db, name: string, now: RawBuilder<number>): Promise<void> {
  const server = db.insertInto('servers').values({ name, seen_at: now })
  await server.onConflict((on) => on.column('name').doUpdateSet({ seen_at: now })).execute()
  await db
    .deleteFrom('servers')
    .where('seen_at', '<', sql<number>`${now} - ${sql.lit(DAY_MS)}`)
    .execute()
}

/** The first one is 1: before a second one, agents and proxies also hear servers that know of no epochs. */
function nextEpoch(): RawBuilder<number> {
  return sql<number>`case when epoch = 0 then 1 else epoch + ${sql.lit(randomInt(1, MOST_STEP + 1))} end`
}

async function shorten(
  db: Db,
  { now, until }: { readonly now: RawBuilder<number>; readonly until: RawBuilder<number> },
): Promise<void> {
  await db.updateTable('buckets').set({ expires_at: until }).where('expires_at', '>', until).execute()
  await db.updateTable('servers').set({ seen_at: now }).where('seen_at', '>', now).execute()
}

async function countServers(db: Db, now: RawBuilder<number>): Promise<number> {
  const count = db.selectFrom('servers').select((eb) => eb.fn.countAll<number>().as('count'))
  const { count: servers } = await count
    .where('seen_at', '>', sql<number>`${now} - ${sql.lit(LEASE_MS)}`)
    .executeTakeFirstOrThrow()
  return Math.max(1, Number(servers))
}
