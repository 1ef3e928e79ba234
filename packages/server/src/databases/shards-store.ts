import type { LimitBefore } from '../core/carry-over/sync-room.ts'
import type { ShardRecord } from '../core/state/database.ts'
import type { Runs } from '../core/state/goal.ts'
import { nextId } from '../store/next-id.ts'
import type { Db } from '../store/open-store.ts'
import type { Tables } from '../store/tables.ts'

/** The shards that were ever asked for and are not removed yet, with what each shall run. */
export interface ShardsStore {
  list(): Promise<readonly ShardRecord[]>
  listOf(databaseUid: number): Promise<readonly ShardRecord[]>
  /** Throws when the port is taken on that node: a unique constraint. */
  insert(shard: Omit<ShardRecord, 'id' | 'leaving'>, now: string): Promise<ShardRecord>
  setRuns(id: number, runs: Runs): Promise<void>
  /** Its next process speaks TLS to other shards, on this port. */
  setTlsPort(id: number, tlsPort: number): Promise<void>
  setFollows(id: number, follows: number | null): Promise<void>
  setLeaving(id: number): Promise<void>
  /** They hold their data now: nothing has to be kept free for them any more. */
  endReservations(ids: readonly number[]): Promise<void>
  /** What a process of it may hold back for replicas, unless a full sync needs more; null: nothing is on record. */
  limitBefore(id: number): Promise<LimitBefore | null>
  setLimitBefore(id: number, before: LimitBefore | null): Promise<void>
  remove(id: number): Promise<void>
}

/** Rows of `shards`, through `db`, which may be a transaction. */
export function shardsStore(db: Db): ShardsStore {
  const all = () => db.selectFrom('shards').selectAll().orderBy('id')
  return {
    async list() {
      return (await all().execute()).map(fromRow)
    },
    async listOf(databaseUid) {
      return (await all().where('database_uid', '=', databaseUid).execute()).map(fromRow)
    },
    async insert(shard, now) {
      const id = await nextId(db, 'shard')
      await db
        .insertInto('shards')
        .values(toRow(id, shard, now))
        .execute()
      return { ...shard, id, leaving: false }
    },
    async setRuns(id, runs) {
      await db.updateTable('shards').set(runsToColumns(runs)).where('id', '=', id).execute()
    },
    async setTlsPort(id, tlsPort) {
      await db.updateTable('shards').set({ tls_port: tlsPort }).where('id', '=', id).execute()
    },
    async setFollows(id, follows) {
      await db.updateTable('shards').set({ follows }).where('id', '=', id).execute()
    },
    async setLeaving(id) {
      await db.updateTable('shards').set({ leaving: 1 }).where('id', '=', id).execute()
    },
    async endReservations(ids) {
      await db
        .updateTable('shards')
        .set({ reserved_bytes: 0 })
        .where('id', 'in', ids)
        .where('reserved_bytes', '>', 0)
        .execute()
    },
    async limitBefore(id) {
      const row = await db.selectFrom('shards').select('limit_before').where('id', '=', id).executeTakeFirst()
      const text = row?.limit_before ?? null
      return text === null ? null : (JSON.parse(text) as LimitBefore) // written here
    },
    async setLimitBefore(id, before) {
      await db
        .updateTable('shards')
        .set({ limit_before: before === null ? null : JSON.stringify(before) })
        .where('id', '=', id)
        .execute()
    },
    async remove(id) {
      await db.deleteFrom('shards').where('id', '=', id).execute()
    },
  }
}

type NewShard = Parameters<ShardsStore['insert']>[0]

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

function fromRow(row: Tables['shards']): ShardRecord {
  return {
    id: row.id,
    databaseUid: row.database_uid,
    group: row.group_number,
    nodeUid: row.node_uid,
    host: row.host,
    port: row.port,
    tlsPort: row.tls_port,
    runs: {
      build: { flavour: row.flavour, version: row.version },
      restartNonce: row.restart_nonce,
      modules: JSON.parse(row.modules) as Runs['modules'], // written here
    },
    follows: row.follows,
    leaving: row.leaving === 1,
    reservedBytes: Number(row.reserved_bytes),
  }
}
