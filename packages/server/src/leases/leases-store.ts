import { randomInt } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { LEASE_MS } from '../core/state/bucket.ts'
import type { Db, Store } from '../store/open-store.ts'

/** A bucket and its holder's epoch, higher than that of the previous holder. */
export interface Claimed {
  readonly bucket: number
  readonly epoch: number
}

/**
 * Maximum step of an epoch. It is random, so that a server whose store was restored to an older state (from a
 * backup, or a replica without the last second) does not get the epoch of a running server. The server with
 * the lower epoch is refused, and raises it if it is the holder (raise-epoch.ts).
 */
const MOST_STEP = 256

const DAY_MS = 86_400_000

/** Longer than any server runs. */
const FOR_EVER = Number.MAX_SAFE_INTEGER

/**
 * Holders of the buckets; `db` may be a transaction. Uses only the store's clock, never a comparison of
 * servers' clocks. If the store is not shared, no lease expires.
 */
export function leasesStore(db: Db, { isShared }: Pick<Store, 'isShared'>) {
  // Not now(), the begin of the transaction, which may have waited for a lock since.
  const now: RawBuilder<number> = isShared
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`0`
  const until = isShared ? sql<number>`${now} + ${sql.lit(LEASE_MS)}` : sql<number>`${sql.lit(FOR_EVER)}`
  // A server alone on its store also takes a killed server's buckets.
  const free = () =>
    isShared ? db.selectFrom('buckets').where('expires_at', '<=', now) : db.selectFrom('buckets')
  const claimed = ['bucket', 'epoch'] as const
  return {
    /** Records that a server is alive. Removes those not seen for a day. */
    see: (me: string) => see(db, me, now),
    /** Servers seen within a lease's length; at least 1. */
    countServers: () => countServers(db, now),
    /**
     * Limits every lease to the length of a new one. Otherwise leases would last longer, also those of dead
     * servers, after PostgreSQL's clock was set back or differs after a failover.
     */
    async shorten(): Promise<void> {
      if (isShared) await shorten(db, { now, until })
    },
    /** Number of free buckets. */
    async countFree(): Promise<number> {
      const count = free().select((eb) => eb.fn.countAll<number>().as('count'))
      return Number((await count.executeTakeFirstOrThrow()).count)
    },
    /** Takes up to `most` free buckets. Call it in a transaction, so that fenced ones have ended. */
    async claim(me: string, most: number): Promise<readonly Claimed[]> {
      return await db
        .updateTable('buckets')
        .set({ holder: me, epoch: nextEpoch(), expires_at: until })
        .where('bucket', 'in', free().select('bucket').orderBy('bucket').limit(most))
        .returning(claimed)
        .execute()
    },
    /** Renews and returns those of `buckets` that this server still holds. Its other leases expire. */
    async renew(me: string, buckets: readonly number[]): Promise<readonly Claimed[]> {
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
    /** Others may take them immediately. */
    async handBack(me: string, buckets: readonly number[]): Promise<void> {
      if (buckets.length === 0) return
      const own = db.updateTable('buckets').set({ holder: null, expires_at: 0 }).where('holder', '=', me)
      await own.where('bucket', 'in', [...buckets]).execute()
    },
    async leave(me: string): Promise<void> {
      await db.updateTable('buckets').set({ holder: null, expires_at: 0 }).where('holder', '=', me).execute()
      await db.deleteFrom('servers').where('name', '=', me).execute()
    },
    /** The epoch of the last holder. */
    async epochOf(bucket: number): Promise<number> {
      const row = db.selectFrom('buckets').select('epoch').where('bucket', '=', bucket)
      return Math.max(1, (await row.executeTakeFirstOrThrow()).epoch)
    },
    /** Returns whether this server holds it under this epoch; in a transaction, until its end. */
    async isHeld(me: string, { bucket, epoch }: Claimed): Promise<boolean> {
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

/** The first epoch is 1: until the second, agents and proxies also accept servers without epochs. */
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
