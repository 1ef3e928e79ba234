import { type Kysely, sql } from 'kysely'

/** Adds the catalogue of modules, and the modules of databases and shards. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('modules')
    .addColumn('uid', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('semantic_version', 'text', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('size_bytes', 'integer', (column) => column.notNull())
    .addColumn('manifest', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('one_module_a_version', ['name', 'semantic_version'])
    .execute()
  await db.schema
    .createTable('module_actions')
    .addColumn('uid', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('module_uid', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('module_actions_by_time')
    .on('module_actions')
    .columns(['created_at', 'uid'])
    .execute()
  for (const table of ['databases', 'shards']) {
    await db.schema
      .alterTable(table)
      .addColumn('modules', 'text', (column) => column.notNull().defaultTo('[]'))
      .execute()
  }
  await widenGoals(db)
}

/** Adds an empty list of modules to old goals, also of actions that run during Fairlead's own upgrade. */
async function widenGoals(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ uid: string; goal: string; asked: string }>`
    select uid, goal, asked from actions`.execute(db)
  for (const { uid, goal, asked } of rows)
    await sql`update actions set goal = ${widen(goal)}, asked = ${widen(asked)} where uid = ${uid}`.execute(
      db,
    )
}

function widen(json: string): string {
  const goal = JSON.parse(json) as { from: object | null }
  const from = goal.from && { ...goal.from, modules: [] }
  return JSON.stringify({ ...goal, modules: [], from })
}
