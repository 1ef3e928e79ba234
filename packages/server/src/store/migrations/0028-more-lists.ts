import { type Kysely, sql } from 'kysely'

/** Lets a page of actions or users be read without its preceding rows, in each order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const index of [
    'actions_by_creation on actions (created_at, uid)',
    'actions_by_change on actions (changed_at, uid)',
    'actions_by_phase on actions (phase, created_at, uid)',
    'users_by_name on users (name, uid)',
  ])
    await sql.raw(`create index ${index}`).execute(db)
}
