import { type Kysely, sql } from 'kysely'

/** How clients reached databases before a change, for as long as it is valid. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`create table former_access (
      database_uid integer not null references databases (uid) on delete cascade, kind text not null,
      port integer, tls integer, name text, digest text, until text not null)`)
    .execute(db)
  await sql.raw('create index former_access_by_database on former_access (database_uid)').execute(db)
  await sql.raw('create index former_access_by_port on former_access (port)').execute(db)
}
