import { type Database, type ShardRecord, splitSlots } from '../src/core/state/database.ts'

const at = '2026-11-21T12:00:00.000Z'
const runs = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0, modules: [] }

/** A database on record, with one group and without an endpoint; `but` overrides fields. */
export function databaseOf(but: Partial<Database> = {}): Database {
  const groups = splitSlots(1).map((slots, number) => ({ number, slots, primaryShard: 1, history: null }))
  return {
    uid: 1,
    name: 'orders',
    status: 'active',
    obstacle: null,
    ...runs,
    memoryBytes: 0,
    replicas: 1,
    persistence: 'disabled',
    aofFsync: 'everysec',
    snapshots: [],
    evictionPolicy: 'noeviction',
    adminPassword: 'admin',
    userPassword: 'user-secret',
    cluster: false,
    clientsKnowShards: true,
    shardTls: false,
    tls: false,
    endpointPort: null,
    former: [],
    defaultUser: true,
    rolesPermissions: [],
    users: [],
    groups,
    createdAt: at,
    changedAt: at,
    ...but,
  }
}

/** A shard on record that never had to follow another. */
export function shardOf(id: number, but: Partial<ShardRecord> = {}): ShardRecord {
  return {
    id,
    databaseUid: 1,
    group: 0,
    nodeUid: 1,
    host: '127.0.0.1',
    port: 20_000 + id,
    tlsPort: null,
    runs,
    follows: null,
    leaving: false,
    reservedBytes: 0,
    ...but,
  }
}
