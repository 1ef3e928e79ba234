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
  /** Notes that a server is there. */
  see(me: string): Promise<void>
  /** Of servers that were seen within the length of a lease; at least 1. */
  countServers(): Promise<number>
  /** How many buckets are free. */
  countFree(): Promise<number>
  /** Takes up to `most` free buckets. Call it in a transaction, so that what is fenced in others has ended. */
  claim(me: string, most: number): Promise<readonly Claimed[]>
  /** Prolongs all that this server still holds, and answers them. */
  renew(me: string): Promise<readonly Claimed[]>
  /** Others may take them at once. */
  handBack(me: string, buckets: readonly number[]): Promise<void>
  leave(me: string): Promise<void>
  /** The epoch of its last holder. */
  epochOf(bucket: number): Promise<number>
  /** Is it still held by this server, under this epoch? In a transaction this is so until its end. */
  isHeld(me: string, claimed: Claimed): Promise<boolean>
}

/**
 * An epoch rises by a step of chance: a PostgreSQL that fails over to a replica without the last second may give a bucket away once more, and then
 * agents and proxies can tell the two holders apart.
 */
const MOST_STEP = 1_000
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
    async see(me) {
      await db
        .insertInto('servers')
        .values({ name: me, seen_at: now })
        .onConflict((on) => on.column('name').doUpdateSet({ seen_at: now }))
        .execute()
    },
    countServers: () => countServers(db, now),
    async countFree() {
      const count = free().select((eb) => eb.fn.countAll<number>().as('count'))
      return Number((await count.executeTakeFirstOrThrow()).count)
    },
    async claim(me, most) {
      const step = isShared ? randomInt(1, MOST_STEP + 1) : 1
      return await db
        .updateTable('buckets')
        .set((eb) => ({ holder: me, epoch: eb('epoch', '+', step), expires_at: until }))
        .where('bucket', 'in', free().select('bucket').orderBy('bucket').limit(most))
        .returning(claimed)
        .execute()
    },
    renew: async (me) =>
      await db
        .updateTable('buckets')
        .set({ expires_at: until })
        .where('holder', '=', me)
        .where('expires_at', '>', now)
        .returning(claimed)
        .execute(),
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
      const row = db.selectFrom('buckets').select('bucket').where('bucket', '=', bucket)
      const own = row.where('holder', '=', me).where('epoch', '=', epoch)
      return (await own.where('expires_at', '>', now).executeTakeFirst()) !== undefined
    },
  }
}

async function countServers(db: Db, now: RawBuilder<number>): Promise<number> {
  const count = db.selectFrom('servers').select((eb) => eb.fn.countAll<number>().as('count'))
  const { count: servers } = await count
    .where('seen_at', '>', sql<number>`${now} - ${sql.lit(LEASE_MS)}`)
    .executeTakeFirstOrThrow()
  return Math.max(1, Number(servers))
}
