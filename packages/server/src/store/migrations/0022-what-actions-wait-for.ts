import { type Kysely, sql } from 'kysely'

/**
 * Adds phase, wait, request, user, ending and lanes to actions. Phase and ending of existing actions are
 * derived from their rows; a running one gets the rest in its next turn.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const add = (name: string) => db.schema.alterTable('actions').addColumn(name, 'text').execute()
  for (const name of ['waiting', 'ending', 'request', 'requested_by', 'began_at', 'ended_at']) await add(name)
  await db.schema
    .alterTable('actions')
    .addColumn('phase', 'text', (column) => column.notNull().defaultTo('preparing'))
    .execute()
  await db.schema
    .alterTable('actions')
    .addColumn('handing_over', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createTable('action_lanes')
    .addColumn('action_uid', 'text', (column) => column.notNull())
    .addColumn('group_number', 'integer', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('action_lanes_key', ['action_uid', 'group_number'])
    .execute()
  await sql`update actions set phase = 'queued' where status = 'queued'`.execute(db)
  await sql`update actions set began_at = created_at where status <> 'queued'`.execute(db)
  await sql`update actions set phase = 'ended', ended_at = changed_at, progress = 100
    where status in ('done', 'failed')`.execute(db)
  // The texts of earlier versions, the only record of the order.
  await sql`update actions set ending = case
    when error like 'cancelled%asked for by %' then 'cancelled'
    when error like 'rolled back%asked for by %' then 'rolled_back'
    else 'failed' end where error is not null`.execute(db)
}
