import { sql } from 'kysely'

/** Selects what core/state/serving.ts calls the served build: only a change can make it another. */
export function servedColumn(column: 'flavour' | 'version') {
  const [recorded, served] = [sql.ref(`databases.${column}`), sql.ref(`shards.${column}`)]
  return sql<string>`case when databases.status <> 'changing' then ${recorded} else coalesce((
    select min(${served}) from groups join shards on shards.id = groups.primary_shard
    where groups.database_uid = databases.uid
    having count(distinct shards.flavour || '-' || shards.version) = 1
  ), ${recorded}) end`
}
