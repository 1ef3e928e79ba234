import type { WantedShard } from '@fairlead/api'
import { LEAST_BACKLOG_BYTES } from '../core/backlog-bytes.ts'
import type { Database, ShardRecord } from '../core/database.ts'
import { revisionOf } from '../core/goal.ts'

/** What the agent is asked to run for a shard. `members` are all shards of its group, itself included. */
export function wishFor(
  shard: ShardRecord,
  database: Database,
  members: readonly ShardRecord[],
): WantedShard {
  const primary = members.find(({ id }) => id === shard.follows)
  return {
    build: shard.runs.build,
    revision: revisionOf(shard.runs),
    host: shard.host,
    port: shard.port,
    replicaOf: primary === undefined ? null : { host: primary.host, port: primary.port },
    cluster: database.cluster,
    rdbVersionCheck: 'strict',
    // A primary that came back empty would empty its replicas: with others in the group, the server decides.
    onCrash: primary === undefined && members.length > 1 ? 'wait' : 'restart',
    memoryBytes: Math.floor(database.memoryBytes / database.groups.length),
    evictionPolicy: database.evictionPolicy,
    persistence: database.persistence,
    aofFsync: database.aofFsync,
    snapshots: [...database.snapshots],
    backlogBytes: LEAST_BACKLOG_BYTES,
    adminPassword: database.adminPassword,
    userPassword: database.userPassword,
  }
}
