import {
  type Backup,
  type Body,
  backUpDatabase,
  type createDatabase,
  deleteBackup,
  getBackup,
  listBackups,
  type NodeBackup,
} from '@fairlead/api'
import { actorOf, databasesFor } from '../../core/identity/access.ts'
import type { Backups } from '../../fleet/backups/backups-service.ts'
import type { Mount } from '../../http/mount.ts'

/** Serves backups. */
export function backupsRoutes(mount: Mount, backups: Backups): void {
  mount(backUpDatabase, async ({ params }, caller) =>
    toWire(await backups.begin(params.uid, actorOf(caller))),
  )

  mount(listBackups, async ({ query }, { user }) => {
    const all = await backups.list(databasesFor(user, 'view_bdb_info'))
    return all
      .filter(({ database }) => query.bdb_uid === undefined || database.uid === query.bdb_uid)
      .map(toWire)
  })

  mount(getBackup, async ({ params }, { user }) =>
    toWire(await backups.get(params.name, databasesFor(user, 'view_bdb_info'))),
  )

  mount(deleteBackup, async ({ params }, caller) => {
    await backups.remove(params.name, databasesFor(caller.user, 'start_bdb_export'), actorOf(caller))
    return params
  })
}

/** A backup as the API shows it. */
function toWire(backup: NodeBackup): Backup {
  const { name, state, why, database, bytes, groups, startedAt, provedAt } = backup
  const files = groups.map((group) => ({
    group: group.number,
    slots: `${group.slots.first}-${group.slots.last}`,
    format: group.format,
    bytes: group.bytes,
    sha256: group.sha256,
    keys: keysOf(group),
    replication_id: group.replid,
    offset: group.offset,
  }))
  return {
    name,
    status: state,
    status_reason: why,
    bdb_uid: database.uid,
    bdb_name: database.name,
    engine: database.build.flavour,
    engine_version: database.build.version,
    memory_size: database.memoryBytes,
    replication: database.replicas > 0,
    sharding: database.cluster,
    shards_count: groups.length,
    data_persistence: database.persistence,
    bytes,
    keys: state === 'done' ? files.reduce((sum, { keys }) => sum + keys, 0) : null,
    created_time: new Date(startedAt).toISOString(),
    proved_time: provedAt === null ? null : new Date(provedAt).toISOString(),
    files,
  }
}

function keysOf({ data }: NodeBackup['groups'][number]): number {
  return data.databases.reduce((sum, { keys }) => sum + keys, 0)
}

/** Completes a creation with the fields of a backup's database. */
export function withBackup(
  body: Body<typeof createDatabase>,
  { database, groups }: NodeBackup,
): Body<typeof createDatabase> {
  const isSharded = body.sharding ?? database.cluster
  const shape = { sharding: isSharded, shards_count: groups.length }
  return {
    replication: database.replicas > 0,
    ...(body.data_persistence === undefined && body.snapshot_policy === undefined && savingOf(database)),
    eviction_policy: database.evictionPolicy as NonNullable<typeof body.eviction_policy>, // same enumeration
    ...(body.shards_count === undefined && shape),
    ...(isSharded && { oss_cluster: database.clientsKnowShards }),
    ...(body.ssl === undefined && { tls_mode: database.tls ? ('enabled' as const) : ('disabled' as const) }),
    module_list: database.modules.map(({ name }) => ({ module_name: name })),
    ...body,
  }
}

function savingOf({ persistence, aofFsync, snapshots }: NodeBackup['database']) {
  return {
    data_persistence: persistence,
    ...(persistence === 'aof' && {
      aof_policy:
        aofFsync === 'always' ? ('appendfsync-always' as const) : ('appendfsync-every-sec' as const),
    }),
    ...(persistence === 'snapshot' && { snapshot_policy: snapshots }),
  }
}
