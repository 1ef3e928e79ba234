import { type SqlBool, sql } from 'kysely'

/** Selects what core/state/serving.ts calls the served build: only a change can make it another. */
export function servedColumn(column: 'flavour' | 'version') {
  const [recorded, served] = [sql.ref(`databases.${column}`), sql.ref(`shards.${column}`)]
  return sql<string>`case when databases.status <> 'changing' then ${recorded} else coalesce((
    select min(${served}) from ${primaries}
    having count(distinct shards.flavour || '-' || shards.version) = 1
  ), ${recorded}) end`
}

/** Is true for a database of which a primary runs a build of this flavour and version; "8.1" is any 8.1.x. */
export function servedBy(build: {
  readonly flavour?: string | undefined
  readonly version?: string | undefined
}) {
  const isOf = (table: 'databases' | 'shards') => {
    const [flavour, version] = [sql.ref(`${table}.flavour`), sql.ref(`${table}.version`)]
    const isVersion =
      build.version === undefined
        ? sql`1 = 1`
        : sql`(${version} = ${build.version} or ${version} like ${`${build.version}.%`})`
    return build.flavour === undefined ? isVersion : sql`${flavour} = ${build.flavour} and ${isVersion}`
  }
  return sql<SqlBool>`case when databases.status <> 'changing' then ${isOf('databases')}
    else exists (select 1 from ${primaries} and ${isOf('shards')}) end`
}

const primaries = sql`groups join shards on shards.id = groups.primary_shard
    where groups.database_uid = databases.uid`
