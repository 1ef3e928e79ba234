import { type Kysely, sql } from 'kysely'

/** Adds a log of visible changes to actions, which begins with the present state. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('action_events')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .addColumn('action_uid', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .execute()
  await sql`create index action_events_by_action on action_events (action_uid, seq)`.execute(db)
  await sql`create index actions_by_time on actions (created_at)`.execute(db)
  await sql`create index actions_by_database on actions (database_uid, created_at)`.execute(db)
  await sql`create index actions_by_end on actions (status, changed_at)`.execute(db)
  await sql`create index handovers_by_action on handovers (action_uid)`.execute(db)
  await beginLogs(db)
}

interface Row {
  readonly uid: string
  readonly kind: string
  readonly status: string
  readonly goal: string
  readonly progress: number
  readonly step: string
  readonly waiting_for: string
  readonly needs_person: number
  readonly error: string | null
  readonly changed_at: string
}

async function beginLogs(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<Row>`select * from actions order by changed_at, uid`.execute(db)
  for (const [n, row] of rows.entries()) {
    await sql`insert into action_events (seq, action_uid, at, type, data)
      values (${n + 1}, ${row.uid}, ${row.changed_at}, 'action', ${JSON.stringify(changeOf(row))})`.execute(
      db,
    )
  }
  if (rows.length > 0) {
    await sql`insert into counters (name, value) values ('action_event', ${rows.length})`.execute(db)
  }
}

/** A copy: later code must not change this migration's effect. */
function changeOf(row: Row): object {
  const goal = JSON.parse(row.goal) as { readonly kind: string; readonly undo: boolean }
  return {
    status: row.status,
    progress: row.progress,
    step: row.step,
    waitingFor: row.waiting_for,
    needsPerson: row.needs_person === 1,
    error: row.error,
    undo: goal.undo || (goal.kind === 'remove' && row.kind !== 'delete'),
  }
}
