import type { Encodings, ShardSpec } from '@fairlead/api'
import { formerPasswords } from '../../core/access/former-access.ts'
import { LEAST_BACKLOG_BYTES } from '../../core/state/backlog-bytes.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import { engineLimit, limitsOf } from '../../core/state/engine-memory.ts'
import { type Runs, revisionOf } from '../../core/state/goal.ts'
import { usersOf } from '../../core/users/database-users.ts'
import type { ShardCertificate } from '../../tls/tls-service.ts'

/**
 * Returns the spec of a shard for the agent. `members`: all shards of its group; `certificate`: of the
 * database's shards, if this one uses TLS to others; `encodings`: set at run time, undefined if unknown.
 */
export function shardSpec(
  shard: ShardRecord,
  database: Database,
  members: readonly ShardRecord[],
  certificate: ShardCertificate | null,
  encodings?: Encodings,
): ShardSpec {
  const former = formerPasswords(database.former, 0)
  const primary = members.find(({ id }) => id === shard.follows)
  return {
    build: shard.runs.build,
    revision: revisionOf(shard.runs),
    host: shard.host,
    port: shard.port,
    replicaOf: primary === undefined ? null : followed(primary),
    cluster: database.cluster,
    tls: certificate === null || shard.tlsPort === null ? null : { port: shard.tlsPort, certificate },
    // Files on its disk may be from the former build, whatever its primary runs: its snapshot, or a full
    // sync's copy.
    rdbVersionCheck: 'relaxed',
    // A primary that returns empty would empty its replicas: with others in the group, the server decides.
    onCrash: primary === undefined && members.length > 1 ? 'wait' : 'restart',
    ...nextLimits(database, members.length),
    persistence: database.persistence,
    aofFsync: database.aofFsync,
    snapshots: [...database.snapshots],
    backlogBytes: LEAST_BACKLOG_BYTES,
    ...(encodings && { encodings }),
    modules: modulesFor(shard.runs),
    adminPassword: database.adminPassword,
    userPassword: database.userPassword,
    ...(former.length > 0 && { formerPasswords: [...former] }),
    users: usersOf(database, shard.runs.build),
  }
}

function followed({ host, port, tlsPort }: ShardRecord): ShardSpec['replicaOf'] {
  return tlsPort === null ? { host, port } : { host, port, tlsPort }
}

/** Returns the modules that a process loads at its start. */
export function modulesFor({ modules }: Runs): ShardSpec['modules'] {
  return modules.map(({ sha256, name, args }) => ({ sha256, name, args: [...args] }))
}

/** Returns the limits of a starting process. Alone it has no backlog; keep-limits.ts notices a later one. */
export function nextLimits(
  database: Database,
  members: number,
): Pick<ShardSpec, 'memoryBytes' | 'evictionPolicy'> {
  const { shareBytes, evictionPolicy } = limitsOf(database)
  return { memoryBytes: engineLimit(shareBytes, members > 1 ? LEAST_BACKLOG_BYTES : 0), evictionPolicy }
}
