import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import * as schema from './migrations/0001-schema.ts'
import * as formerAccess from './migrations/0002-former-access.ts'
import * as databaseUsers from './migrations/0003-database-users.ts'
import type { Db } from './store.ts'

/** Numbered and forward only. The name is the order. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-schema': schema,
  '0002-former-access': formerAccess,
  '0003-database-users': databaseUsers,
}
const SCHEMA = '0001-schema'

/** The first and the last of thirty migrations that led to the same schema, before they became one. */
const EARLIER = { first: '0001-init', last: '0030-audit-in-one-chain' }

/**
 * Migrates the schema. Throws if a newer Fairlead wrote it, or one that had not all EARLIER migrations, or
 * if a migration failed and was rolled back.
 */
export async function migrate(db: Db): Promise<void> {
  await renameEarlier(db)
  const { error, results } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  }).migrateToLatest()
  if (error === undefined) return
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName
  throw new Error(
    failed === undefined
      ? `the store does not fit this version of Fairlead: ${String(error)}`
      : `the store cannot be brought up to date (${failed}): ${String(error)}`,
    { cause: error },
  )
}

/** Notes a store with all earlier migrations as one with the first of today. Changes no other store. */
async function renameEarlier(db: Db): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === 'kysely_migration')) return
  await db.transaction().execute(async (within) => {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
      within,
    )
    const names = rows.map(({ name }) => name)
    if (!names.includes(EARLIER.first)) return
    if (!names.includes(EARLIER.last))
      throw new Error(
        `the store was last used by a Fairlead of before 29 November 2026 (${names.at(-1)}): start one of that day on it once, which brings it up to date`,
      )
    await sql`delete from kysely_migration where name <> ${EARLIER.last}`.execute(within)
    await sql`update kysely_migration set name = ${SCHEMA}`.execute(within)
  })
}
