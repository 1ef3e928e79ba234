import { sql } from 'kysely'
import type { Db } from '../../store/open-store.ts'
import { servedColumn } from '../../store/served-column.ts'

/** The fields of a database for metrics, without secrets. */
export interface DatabaseOfMetrics {
  readonly uid: number
  readonly name: string
  readonly status: string
  /** Only a person can remove its obstacle. */
  readonly isObstructed: boolean
  readonly engine: string
  readonly version: string
  readonly memoryBytes: number
}

/** A shard, and whether it is the primary of its group. */
export interface ShardOfMetrics {
  readonly id: number
  readonly databaseUid: number
  readonly isPrimary: boolean
}

/** Number of running actions of one kind. */
export interface ActionsOfMetrics {
  readonly kind: string
  readonly status: string
  readonly holdReason: string | null
  readonly count: number
}

/** A public certificate, PEM. */
export interface CertificateOfMetrics {
  readonly name: string
  readonly certificate: string
  readonly origin: string
}

/** Queries for metrics, which await `pause` between pieces. */
export function metricsStore(db: Db) {
  return {
    countDatabases: async () =>
      Number(
        (
          await db
            .selectFrom('databases')
            .select((eb) => eb.fn.countAll().as('n'))
            .executeTakeFirst()
        )?.n ?? 0,
      ),
    /** Databases with the lowest uids, in order. */
    databases: (most: number, pause: () => Promise<unknown>) => readDatabases(db, most, pause),
    shardsOf: (databaseUids: readonly number[], pause: () => Promise<unknown>) =>
      readShards(db, databaseUids, pause),
    actions: () => readActions(db),
    /** Databases whose action waits for a person; at most `most`. */
    async needingPerson(most: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('actions')
        .select('database_uid')
        .where(sql<boolean>`status in ('queued', 'running')`)
        .where('needs_person', '=', 1)
        .limit(most)
        .execute()
      return rows.map(({ database_uid }) => database_uid)
    },
    /** Certificates that clients of the API and of endpoints see, and their authority's. */
    async certificates(): Promise<readonly CertificateOfMetrics[]> {
      return await db
        .selectFrom('tls_certificates')
        .select(['name', 'certificate', 'origin'])
        .where((is) => is.or([is('name', 'in', ['ca', 'proxy', 'api']), is('name', 'like', 'api:%')]))
        .orderBy('name')
        .limit(MOST_CERTIFICATES)
        .execute()
    },
  }
}

/** Rows per query, so that each blocks the event loop for only a few milliseconds. */
const ROWS_AT_ONCE = 250
const MOST_CERTIFICATES = 50

/** `window` while nothing changes and the old primaries stay as standbys. */
const statusColumn = sql<string>`case when databases.status = 'changing' and exists (
  select 1 from actions
  where actions.database_uid = databases.uid and actions.status = 'running' and actions.phase = 'window'
) then 'window' else databases.status end`

async function readDatabases(
  db: Db,
  most: number,
  pause: () => Promise<unknown>,
): Promise<readonly DatabaseOfMetrics[]> {
  const found: DatabaseOfMetrics[] = []
  while (found.length < most) {
    const rows = await db
      .selectFrom('databases')
      .select(['uid', 'name', 'obstacle', 'memory_bytes', statusColumn.as('status')])
      .select([servedColumn('flavour').as('flavour'), servedColumn('version').as('version')])
      .where('uid', '>', found.at(-1)?.uid ?? 0)
      .orderBy('uid')
      .limit(Math.min(ROWS_AT_ONCE, most - found.length))
      .execute()
    for (const { flavour, memory_bytes, obstacle, ...row } of rows)
      found.push({ ...row, engine: flavour, memoryBytes: memory_bytes, isObstructed: obstacle !== '' })
    if (rows.length < ROWS_AT_ONCE) break
    await pause()
  }
  return found
}

async function readShards(
  db: Db,
  databaseUids: readonly number[],
  pause: () => Promise<unknown>,
): Promise<readonly ShardOfMetrics[]> {
  const found: ShardOfMetrics[] = []
  for (let from = 0; from < databaseUids.length; from += ROWS_AT_ONCE) {
    const some = databaseUids.slice(from, from + ROWS_AT_ONCE)
    const rows = await db
      .selectFrom('shards')
      .leftJoin('groups', (join) =>
        join
          .onRef('groups.database_uid', '=', 'shards.database_uid')
          .onRef('groups.number', '=', 'shards.group_number'),
      )
      .select(['shards.id', 'shards.database_uid', 'groups.primary_shard'])
      .where('shards.database_uid', 'in', some)
      .execute()
    for (const { id, database_uid, primary_shard } of rows)
      found.push({ id, databaseUid: database_uid, isPrimary: primary_shard === id })
    await pause()
  }
  return found
}

async function readActions(db: Db): Promise<readonly ActionsOfMetrics[]> {
  const rows = await db
    .selectFrom('actions')
    .select(['kind', 'status', 'hold_reason'])
    .select((eb) => eb.fn.countAll().as('n'))
    .where(sql<boolean>`status in ('queued', 'running')`)
    .groupBy(['kind', 'status', 'hold_reason'])
    .execute()
  return rows.map(({ kind, status, hold_reason, n }) => ({
    kind,
    status,
    holdReason: hold_reason,
    count: Number(n),
  }))
}
