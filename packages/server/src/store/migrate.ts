import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import * as schema from './migrations/0001-schema.ts'
import type { Db } from './store.ts'

/** Numbered and forward only. The name is the order. */
export const migrations: Readonly<Record<string, Migration>> = { '0001-schema': schema }
const SCHEMA = '0001-schema'

/** The last of 30 migrations before they became one: it led to the same schema. */
const BEFORE = '0030-audit-in-one-chain'

/**
 * Migrates the schema. Throws if a newer Fairlead wrote it, or one before BEFORE, or if a migration failed
 * and was rolled back.
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

/** Notes a store with all earlier migrations as one with the first of today. Idempotent. */
async function renameEarlier(db: Db): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === 'kysely_migration')) return
  await db.transaction().execute(async (within) => {
    await sql`update kysely_migration set name = ${SCHEMA} where name = ${BEFORE}`.execute(within)
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
      within,
    )
    const names = rows.map(({ name }) => name)
    const earlier = names.filter((name) => name < BEFORE && name !== SCHEMA)
    if (!names.includes(SCHEMA) && earlier.length > 0)
      throw new Error(
        `the store was last used by a Fairlead of before 29 November 2026 (${earlier.at(-1)}): start one of that day on it once, which brings it up to date`,
      )
    for (const name of earlier) await sql`delete from kysely_migration where name = ${name}`.execute(within)
  })
}
