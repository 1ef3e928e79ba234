import type { Database, DatabaseStatus } from '../core/database.ts'
import { nextId } from '../store/next-id.ts'
import type { Db } from '../store/open-store.ts'
import type { Tables } from '../store/tables.ts'

export type NewDatabase = Omit<Database, 'uid' | 'status' | 'primaryShard' | 'history' | 'changedAt'>

export interface DatabasesStore {
  list(): Promise<readonly Database[]>
  get(uid: number): Promise<Database | undefined>
  getByName(name: string): Promise<Database | undefined>
  insert(database: NewDatabase): Promise<Database>
  setStatus(uid: number, status: DatabaseStatus, now: string): Promise<void>
  /** Takes over what an upgrade led to. */
  setBuild(uid: number, runs: Pick<Database, 'build' | 'restartNonce'>, now: string): Promise<void>
  setPrimary(uid: number, shard: number): Promise<void>
  setHistory(uid: number, history: NonNullable<Database['history']>): Promise<void>
  remove(uid: number): Promise<void>
}

export function databasesStore(db: Db): DatabasesStore {
  const update = (uid: number) => db.updateTable('databases').where('uid', '=', uid)
  return {
    async list() {
      return (await db.selectFrom('databases').selectAll().orderBy('uid').execute()).map(fromRow)
    },
    async get(uid) {
      const row = await db.selectFrom('databases').selectAll().where('uid', '=', uid).executeTakeFirst()
      return row && fromRow(row)
    },
    async getByName(name) {
      const row = await db.selectFrom('databases').selectAll().where('name', '=', name).executeTakeFirst()
      return row && fromRow(row)
    },
    async insert(database) {
      const row = toRow(await nextId(db, 'database'), database)
      await db.insertInto('databases').values(row).execute()
      return fromRow(row)
    },
    async setStatus(uid, status, now) {
      await update(uid).set({ status, changed_at: now }).execute()
    },
    async setBuild(uid, { build, restartNonce }, now) {
      await update(uid)
        .set({ flavour: build.flavour, version: build.version, restart_nonce: restartNonce, changed_at: now })
        .execute()
    },
    async setPrimary(uid, shard) {
      await update(uid).set({ primary_shard: shard }).execute()
    },
    async setHistory(uid, { replid, offset }) {
      await update(uid).set({ history_replid: replid, history_offset: offset }).execute()
    },
    async remove(uid) {
      await db.deleteFrom('databases').where('uid', '=', uid).execute()
    },
  }
}

type Row = Tables['databases']

function toRow(uid: number, database: NewDatabase): Row {
  return {
    uid,
    name: database.name,
    status: 'pending',
    flavour: database.build.flavour,
    version: database.build.version,
    restart_nonce: database.restartNonce,
    memory_bytes: database.memoryBytes,
    replicas: database.replicas,
    persistence: database.persistence,
    aof_fsync: database.aofFsync,
    snapshots: JSON.stringify(database.snapshots),
    eviction_policy: database.evictionPolicy,
    admin_password: database.adminPassword,
    user_password: database.userPassword,
    primary_shard: null,
    history_replid: null,
    history_offset: null,
    created_at: database.createdAt,
    changed_at: database.createdAt,
  }
}

/** Rows were written by `toRow`: their words are ours. */
function fromRow(row: Row): Database {
  return {
    uid: row.uid,
    name: row.name,
    status: row.status as DatabaseStatus,
    build: { flavour: row.flavour, version: row.version },
    restartNonce: row.restart_nonce,
    memoryBytes: Number(row.memory_bytes),
    replicas: row.replicas,
    persistence: row.persistence as Database['persistence'],
    aofFsync: row.aof_fsync as Database['aofFsync'],
    snapshots: JSON.parse(row.snapshots) as Database['snapshots'],
    evictionPolicy: row.eviction_policy,
    adminPassword: row.admin_password,
    userPassword: row.user_password,
    primaryShard: row.primary_shard,
    history:
      row.history_replid === null ? null : { replid: row.history_replid, offset: Number(row.history_offset) },
    createdAt: row.created_at,
    changedAt: row.changed_at,
  }
}
