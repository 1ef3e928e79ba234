import { type Kysely, sql } from 'kysely'

/** Events of actions, records of the audit and changes of objects have their numbers from one counter, that of action events: one number says where a reader is. */
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
