import { sql } from 'kysely'
import type { Db, Store } from './open-store.ts'
import type { Tables } from './tables.ts'

/** All but leases and servers, which belong to the store that they are in. Those with references come after what they refer to. */
const tables = [
  ...(['counters', 'users', 'logins', 'login_lanes', 'passwords', 'roles', 'user_roles'] as const),
  ...(['signing_keys', 'tls_certificates', 'revoked_tokens', 'settings', 'audit', 'audit_segments'] as const),
  ...(['databases', 'groups', 'shards', 'actions', 'action_events', 'handovers'] as const),
  ...(['modules', 'module_actions'] as const),
] satisfies readonly (keyof Tables)[]

const PAGE = 500

/**
 * Copies all rows of `from`, which has no server, into `to`, in one transaction; sealed ones as they are. Answers how many. Throws when `to` has
 * been used, or when not all rows have arrived.
 */
export async function copyStore(from: Store, to: Store): Promise<number> {
  const [near, epochs] = [from.db.withoutPlugins(), await from.db.selectFrom('buckets').selectAll().execute()]
  return await to.transaction(async (within) => {
    const far = within.withoutPlugins()
    await refuseUsed(far)
    for (const table of tables.toReversed())
      await sql`delete from ${sql.table(table)} where ${isOurs(table)}`.execute(far)
    let rows = 0
    for (const table of tables) rows += await copyTable(table, near, far)
    for (const { bucket, epoch } of epochs)
      await far
        .updateTable('buckets')
        .set((eb) => ({ epoch: eb('epoch', '+', epoch) }))
        .where('bucket', '=', bucket)
        .execute()
    return rows
  })
}

/** The marks of transactions that run are not copied, and not removed. */
function isOurs(table: keyof Tables) {
  return table === 'counters' ? sql`name not like 'commit:%'` : sql`1 = 1`
}

/** A fresh store has roles, and nothing that a user has made. */
async function refuseUsed(db: Db): Promise<void> {
  for (const table of ['users', 'databases', 'audit'] as const)
    if ((await count(db, table)) > 0) throw new Error(`the PostgreSQL database is in use: it has ${table}`)
}

async function copyTable(table: keyof Tables, near: Db, far: Db): Promise<number> {
  for (let offset = 0; ; offset += PAGE) {
    const page = sql<Record<string, unknown>>`select * from ${sql.table(table)} where ${isOurs(table)}
      order by rowid limit ${PAGE} offset ${offset}`
    const { rows } = await page.execute(near)
    if (rows.length === 0) break
    // The same columns: both stores have been brought up to date by this Fairlead.
    await far
      .insertInto(table)
      .values(rows as never)
      .execute()
  }
  const [there, arrived] = [await count(near, table), await count(far, table)]
  if (there !== arrived) throw new Error(`${arrived} of ${there} rows of ${table} have arrived`)
  return there
}

async function count(db: Db, table: keyof Tables): Promise<number> {
  const counted = sql<{
    rows: number
  }>`select count(*) as rows from ${sql.table(table)} where ${isOurs(table)}`
  return Number((await counted.execute(db)).rows[0]?.rows)
}
