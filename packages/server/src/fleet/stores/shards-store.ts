import { type SqlBool, sql } from 'kysely'
import { Type } from 'typebox'
import type { LimitBefore } from '../../core/carry-over/sync-room.ts'
import type { ShardPlace, ShardRecord } from '../../core/state/database.ts'
import type { Runs } from '../../core/state/goal.ts'
import type { PortRange } from '../../core/state/port-range.ts'
import { nextId } from '../../store/next-id.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn } from '../../store/stored-column.ts'
import { StoredModules } from '../../store/stored-values.ts'
import type { Tables } from '../../store/tables.ts'
import { changesStore } from './changes-store.ts'

/** The result of `shardsStore`. The reconciler uses it as the port `ShardsOnRecord`. */
export type ShardsStore = ReturnType<typeof shardsStore>

/**
 * Wanted shards that are not removed yet, with build and settings: rows of `shards`. `db` may be a
 * transaction.
 */
export function shardsStore(db: Db) {
  return {
    ...readShards(db),
    /** Bytes reserved for shards without their data yet, over all databases. */
    reservedBytes: () => sumReserved(db),
    /** Number of all shards. */
    count: () => count(db),
    /** Databases of these shards, each once. Ignores unknown shards. */
    databasesOf: (ids: readonly number[]) => databasesOf(db, ids),
    /** Throws if the port is taken on that node (unique constraint). */
    async insert(shard: NewShard, now: string): Promise<ShardRecord> {
      const id = await nextId(db, 'shard')
      await db
        .insertInto('shards')
        .values(toRow(id, shard, now))
        .execute()
      await changesStore(db).note('databases', shard.databaseUid)
      return { ...shard, id, leaving: false }
    },
    async setRuns(id: number, runs: Runs): Promise<void> {
      await db.updateTable('shards').set(runsToColumns(runs)).where('id', '=', id).execute()
    },
    /** The next process speaks TLS to other shards on this port. */
    async setTlsPort(id: number, tlsPort: number): Promise<void> {
      await db.updateTable('shards').set({ tls_port: tlsPort }).where('id', '=', id).execute()
    },
    async setFollows(id: number, follows: number | null): Promise<void> {
      await db.updateTable('shards').set({ follows }).where('id', '=', id).execute()
    },
    async setLeaving(id: number, leaving: boolean): Promise<void> {
      await db
        .updateTable('shards')
        .set({ leaving: Number(leaving) })
        .where('id', '=', id)
        .execute()
    },
    /** Shards with reserved memory. */
    async withReservation(ids: readonly number[]): Promise<readonly number[]> {
      if (ids.length === 0) return []
      const query = db.selectFrom('shards').select('id').where('id', 'in', ids)
      return (await query.where('reserved_bytes', '>', 0).execute()).map(({ id }) => id)
    },
    /** Ends reservations of shards that have their data. */
    async endReservations(ids: readonly number[]): Promise<void> {
      await db
        .updateTable('shards')
        .set({ reserved_bytes: 0 })
        .where('id', 'in', ids)
        .where('reserved_bytes', '>', 0)
        .execute()
    },
    /** The process's replica buffer limit, unless a full sync needs more; null: none recorded. */
    async limitBefore(id: number): Promise<LimitBefore | null> {
      const row = await db.selectFrom('shards').select('limit_before').where('id', '=', id).executeTakeFirst()
      const text = row?.limit_before ?? null
      return text === null ? null : limitBeforeOf(text, id)
    },
    async setLimitBefore(id: number, before: LimitBefore | null): Promise<void> {
      await db
        .updateTable('shards')
        .set({ limit_before: before === null ? null : JSON.stringify(before) })
        .where('id', '=', id)
        .execute()
    },
    remove: (id: number) => removeShard(db, id),
  }
}

async function removeShard(db: Db, id: number): Promise<void> {
  const gone = db.deleteFrom('shards').where('id', '=', id).returning('database_uid')
  const databaseUid = (await gone.executeTakeFirst())?.database_uid
  if (databaseUid !== undefined) await changesStore(db).note('databases', databaseUid)
}

function readShards(db: Db) {
  const all = () => db.selectFrom('shards').selectAll().orderBy('id')
  const within = (column: 'port' | 'tls_port', { from, to }: PortRange) =>
    db.selectFrom('shards').where(column, '>=', from).where(column, '<=', to)
  return {
    /** Only the fields that concern others, so that an unreadable shard delays no other database. */
    async list(): Promise<readonly ShardPlace[]> {
      return (await db.selectFrom('shards').select(placeColumns).orderBy('id').execute()).map(placeOf)
    },
    /** Recorded ports in `range`, bounds included, with those for TLS. */
    async portsWithin(range: PortRange): Promise<readonly number[]> {
      const plain = await within('port', range).select('port').execute()
      const tls = await within('tls_port', range).select('tls_port').execute()
      return [...plain.map(({ port }) => port), ...tls.flatMap(({ tls_port }) => tls_port ?? [])]
    },
    /** Number of these ports. */
    async countPortsWithin(range: PortRange): Promise<number> {
      const counts = (['port', 'tls_port'] as const).map((column) =>
        within(column, range)
          .select((eb) => eb.fn.countAll().as('ports'))
          .executeTakeFirstOrThrow(),
      )
      return (await Promise.all(counts)).reduce((sum, { ports }) => sum + Number(ports), 0)
    },
    /** Shards by database. */
    async listOfEach(databaseUids: readonly number[]): Promise<ReadonlyMap<number, readonly ShardRecord[]>> {
      if (databaseUids.length === 0) return new Map()
      const rows = await all()
        .where('database_uid', 'in', [...databaseUids])
        .execute()
      return Map.groupBy(rows.map(fromRow), ({ databaseUid }) => databaseUid)
    },
    /** Ids of all primaries. */
    async primaries(): Promise<readonly number[]> {
      const rows = await db.selectFrom('groups').select('primary_shard').execute()
      return rows.flatMap(({ primary_shard }) => primary_shard ?? [])
    },
    /** Ids only. */
    async idsOf(databaseUids: readonly number[]): Promise<readonly number[]> {
      if (databaseUids.length === 0) return []
      const query = db
        .selectFrom('shards')
        .select('id')
        .where('database_uid', 'in', [...databaseUids])
      return (await query.execute()).map(({ id }) => id)
    },
    /** Databases of these shards, and whether they have an endpoint. */
    async placesOf(ids: readonly number[]) {
      const places: { shardId: number; databaseUid: number; hasEndpoint: boolean }[] = []
      for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
        const rows = await db
          .selectFrom('shards')
          .innerJoin('databases', 'databases.uid', 'shards.database_uid')
          .select(['shards.id', 'shards.database_uid', 'databases.endpoint_port'])
          .where('shards.id', 'in', ids.slice(from, from + IDS_AT_ONCE))
          .execute()
        for (const { id, database_uid, endpoint_port } of rows)
          places.push({ shardId: id, databaseUid: database_uid, hasEndpoint: endpoint_port !== null })
      }
      return places
    },
    async listOf(databaseUid: number): Promise<readonly ShardRecord[]> {
      return (await all().where('database_uid', '=', databaseUid).execute()).map(fromRow)
    },
  }
}

async function sumReserved(db: Db): Promise<number> {
  const sum = db.fn.sum('reserved_bytes').as('bytes')
  // Like in the index: with a parameter, SQLite would scan all shards.
  const isReserved = sql<SqlBool>`reserved_bytes > 0`
  const row = await db.selectFrom('shards').select(sum).where(isReserved).executeTakeFirst()
  return Number(row?.bytes ?? 0)
}

async function count(db: Db): Promise<number> {
  const shards = db.selectFrom('shards').select((eb) => eb.fn.countAll().as('shards'))
  return Number((await shards.executeTakeFirstOrThrow()).shards)
}

async function databasesOf(db: Db, ids: readonly number[]): Promise<readonly number[]> {
  const uids = new Set<number>()
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const some = ids.slice(from, from + IDS_AT_ONCE)
    const rows = db.selectFrom('shards').select('database_uid').where('id', 'in', some)
    for (const { database_uid } of await rows.execute()) uids.add(database_uid)
  }
  return [...uids]
}

/** Stores limit the parameters of one statement. */
const IDS_AT_ONCE = 1_000

type NewShard = Omit<ShardRecord, 'id' | 'leaving'>

function toRow(id: number, shard: NewShard, created_at: string): Omit<Tables['shards'], 'limit_before'> {
  return {
    id,
    database_uid: shard.databaseUid,
    group_number: shard.group,
    node_uid: shard.nodeUid,
    host: shard.host,
    port: shard.port,
    tls_port: shard.tlsPort,
    ...runsToColumns(shard.runs),
    follows: shard.follows,
    leaving: 0,
    reserved_bytes: shard.reservedBytes,
    created_at,
  }
}

function runsToColumns({ build, restartNonce, modules }: Runs) {
  return {
    flavour: build.flavour,
    version: build.version,
    restart_nonce: restartNonce,
    modules: JSON.stringify(modules),
  }
}

const modulesOf = jsonColumn('shards', 'modules', StoredModules)
const limitBeforeOf = jsonColumn(
  'shards',
  'limit_before',
  Type.Object({
    runId: Type.String(),
    limit: Type.Object({ hardBytes: Type.Number(), softBytes: Type.Number(), softSeconds: Type.Number() }),
  }),
)

const placeColumns = ['id', 'database_uid', 'node_uid', 'port', 'tls_port', 'reserved_bytes'] as const

function placeOf(row: Pick<Tables['shards'], (typeof placeColumns)[number]>): ShardPlace {
  return {
    id: row.id,
    databaseUid: row.database_uid,
    nodeUid: row.node_uid,
    port: row.port,
    tlsPort: row.tls_port,
    reservedBytes: Number(row.reserved_bytes),
  }
}

function fromRow(row: Tables['shards']): ShardRecord {
  return {
    ...placeOf(row),
    group: row.group_number,
    host: row.host,
    runs: {
      build: { flavour: row.flavour, version: row.version },
      restartNonce: row.restart_nonce,
      modules: modulesOf(row.modules, row.id),
    },
    follows: row.follows,
    leaving: row.leaving === 1,
  }
}
