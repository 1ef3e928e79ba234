import type { LoginLane } from '../../core/identity/login-lanes.ts'
import type { Db } from '../../store/open-store.ts'
import type { Tables } from '../../store/tables.ts'

const MOST = { known: 32, strangers: 64 } as const

/** Rows of `login_lanes`, through `db`, which may be a transaction. */
export function loginLanesStore(db: Db) {
  const ofUser = (userUid: number) => db.selectFrom('login_lanes').selectAll().where('user_uid', '=', userUid)
  return {
    async get(userUid: number, source: string): Promise<LoginLane | undefined> {
      const row = await ofUser(userUid).where('source', '=', source).executeTakeFirst()
      return row && fromRow(row)
    },
    /** Returns for each of these users with a lock the end of its last one, Unix milliseconds. */
    async lastLocksOf(userUids: readonly number[]): Promise<ReadonlyMap<number, number>> {
      if (userUids.length === 0) return new Map()
      const rows = await db
        .selectFrom('login_lanes')
        .select((eb) => ['user_uid', eb.fn.max('locked_until').as('until')])
        .where('user_uid', 'in', [...userUids])
        .where('locked_until', 'is not', null)
        .groupBy('user_uid')
        .execute()
      return new Map(rows.map(({ user_uid, until }) => [user_uid, toMs(until) ?? 0]))
    },
    /** Returns the end of the lock of each source that is locked out of the account, Unix milliseconds. */
    async locksOf(userUid: number): Promise<ReadonlyMap<string, number>> {
      const rows = await ofUser(userUid).where('locked_until', 'is not', null).execute()
      return new Map(rows.map(({ source, locked_until }) => [source, toMs(locked_until) ?? 0]))
    },
    async put(userUid: number, { source, known, failures }: LoginLane, now: string): Promise<void> {
      const row = {
        known: known ? 1 : 0,
        failures: failures.count,
        failed_at: toIso(failures.lastMs),
        locked_until: toIso(failures.lockedUntilMs),
        used_at: now,
      }
      await db
        .insertInto('login_lanes')
        .values({ user_uid: userUid, source, ...row })
        .onConflict((conflict) => conflict.columns(['user_uid', 'source']).doUpdateSet(row))
        .execute()
    },
    /**
     * Removes the longest unused lanes beyond the maximum number of lanes that are known, or not, as `lane`
     * is.
     */
    dropSurplus: (userUid: number, lane: LoginLane) => dropSurplus(db, userUid, lane),
    /** Ends the locks and counts of all sources. Known sources stay known. */
    async clearFailures(userUid: number): Promise<void> {
      await db
        .updateTable('login_lanes')
        .set({ failures: 0, failed_at: null, locked_until: null })
        .where('user_uid', '=', userUid)
        .execute()
    },
  }
}

async function dropSurplus(db: Db, userUid: number, { source, known }: LoginLane): Promise<void> {
  await db
    .deleteFrom('login_lanes')
    .where('user_uid', '=', userUid)
    .where('known', '=', known ? 1 : 0)
    .where('source', '!=', source)
    .where('used_at', '<=', (from) =>
      from
        .selectFrom('login_lanes')
        .select('used_at')
        .where('user_uid', '=', userUid)
        .where('known', '=', known ? 1 : 0)
        .orderBy('used_at', 'desc')
        .orderBy('source')
        .offset(known ? MOST.known : MOST.strangers)
        .limit(1),
    )
    .execute()
}

function fromRow({ source, known, failures, failed_at, locked_until }: Tables['login_lanes']): LoginLane {
  return {
    source,
    known: known === 1,
    failures: { count: failures, lastMs: toMs(failed_at), lockedUntilMs: toMs(locked_until) },
  }
}

const toIso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
const toMs = (iso: string | null) => (iso === null ? null : Date.parse(iso))
