import { type Kysely, sql } from 'kysely'

/** Adds several groups per database, orders to actions, and standbys to handovers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('groups')
    .addColumn('database_uid', 'integer', (column) =>
      column.notNull().references('databases.uid').onDelete('cascade'),
    )
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('first_slot', 'integer', (column) => column.notNull())
    .addColumn('last_slot', 'integer', (column) => column.notNull())
    .addColumn('primary_shard', 'integer')
    .addColumn('history_replid', 'text')
    .addColumn('history_offset', 'bigint')
    .addPrimaryKeyConstraint('one_group_a_number', ['database_uid', 'number'])
    .execute()
  await sql`insert into groups
    select uid, 0, 0, 16383, primary_shard, history_replid, history_offset from databases`.execute(db)
  await db.schema.alterTable('databases').dropColumn('primary_shard').execute()
  await db.schema.alterTable('databases').dropColumn('history_replid').execute()
  await db.schema.alterTable('databases').dropColumn('history_offset').execute()
  await addColumn(db, 'databases', 'cluster', 0)
  await addColumn(db, 'shards', 'group_number', 0)
  await addColumn(db, 'shards', 'reserved_bytes', 0)
  await addColumn(db, 'handovers', 'group_number', 0)
  await db.schema.alterTable('handovers').addColumn('standby', 'text').execute()
  await sql`drop index one_open_handover`.execute(db)
  await sql`create unique index one_open_handover on handovers (database_uid, group_number) where closed = 0`.execute(
    db,
  )
  await widenActions(db)
}

async function addColumn(db: Kysely<unknown>, table: string, name: string, value: number): Promise<void> {
  await db.schema
    .alterTable(table)
    .addColumn(name, 'integer', (column) => column.notNull().defaultTo(value))
    .execute()
}

async function widenActions(db: Kysely<unknown>): Promise<void> {
  const json = async (name: string, value: string) =>
    db.schema
      .alterTable('actions')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(value))
      .execute()
  await json('asked', '')
  await json('orders', '{"paused":false,"proceed":false,"finalize":false}')
  await json('way_back', 'null')
  await json('warnings', '[]')
  await db.schema.alterTable('actions').addColumn('handed_over_at', 'text').execute()
  const rows = (
    await sql<{ uid: string; goal: string; flavour: string | null; version: string; restart_nonce: number }>`
    select a.uid, a.goal, d.flavour, d.version, d.restart_nonce
    from actions a left join databases d on d.uid = a.database_uid`.execute(db)
  ).rows
  for (const row of rows) {
    const goal = JSON.stringify(widenGoal(row))
    await sql`update actions set goal = ${goal}, asked = ${goal} where uid = ${row.uid}`.execute(db)
  }
}

/** Adds the new fields to old goals, also of actions that run during Fairlead's own upgrade. */
function widenGoal(row: {
  goal: string
  flavour: string | null
  version: string
  restart_nonce: number
}): object {
  const { home, ...goal } = JSON.parse(row.goal) as { home: number | null; undo: boolean }
  const database =
    row.flavour === null
      ? null
      : { build: { flavour: row.flavour, version: row.version }, restartNonce: row.restart_nonce }
  return {
    ...goal,
    from: home === null || goal.undo ? null : database,
    groups: 1,
    cluster: false,
    homes: home === null ? [] : [home],
    discard: false,
    inPlace: false,
    policy: { parallel: 0, canary: true, supervised: false, rollbackWindow: 0 },
  }
}
