import { type Kysely, sql } from 'kysely'

/**
 * Numbers events of actions, audit records and changes of objects with one counter, that of action events: a
 * reader's position is one number.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('changes')
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('object_uid', 'integer', (column) => column.notNull())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('data', 'text')
    .addPrimaryKeyConstraint('one_change_an_object', ['topic', 'object_uid'])
    .execute()
  await db.schema.createIndex('changes_by_seq').on('changes').column('seq').execute()
  await sql`alter table audit add column event_seq integer`.execute(db)
  await db.schema.createIndex('audit_by_event').on('audit').column('event_seq').execute()
}
