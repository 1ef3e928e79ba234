import type { Build } from '@fairlead/api'
import type { FormerAccess } from '../access/former-access.ts'
import type { DatabaseUser, RolePermission } from '../access/sign-in.ts'
import { type Goal, plainPolicy, type Runs, runsOf, type UsedModule } from './goal.ts'

/** A database in the store. */
export interface Database {
  readonly uid: number
  readonly name: string
  readonly status: DatabaseStatus
  /** Obstacle that only a person can remove, as a sentence; or null. */
  readonly obstacle: string | null
  readonly build: Build
  readonly restartNonce: number
  /** Sorted by name. */
  readonly modules: readonly UsedModule[]
  /** Limit of all primaries together in bytes, without replication (engine-memory.ts); 0 is unlimited. */
  readonly memoryBytes: number
  readonly replicas: number
  readonly persistence: Goal['persistence']
  readonly aofFsync: 'everysec' | 'always'
  readonly snapshots: readonly { readonly secs: number; readonly writes: number }[]
  readonly evictionPolicy: string
  readonly adminPassword: string
  readonly userPassword: string
  /** True in the engines' cluster mode. */
  readonly cluster: boolean
  /** In cluster mode: clients use the cluster protocol with its shards. */
  readonly clientsKnowShards: boolean
  /** True: all its shards always use TLS to each other. False: none in cluster mode, else those that can. */
  readonly shardTls: boolean
  /** True if clients use TLS to its endpoint. */
  readonly tls: boolean
  /** Permanent port for clients; null if they know its shards, or before it gets one. */
  readonly endpointPort: number | null
  /** How clients reached it before changes, as far as that is still valid. */
  readonly former: readonly FormerAccess[]
  /** True if its own user `default` may sign in. */
  readonly defaultUser: boolean
  /** Roles whose users sign in to it, by role. */
  readonly rolesPermissions: readonly RolePermission[]
  /** These users, from the present record. */
  readonly users: readonly DatabaseUser[]
  /** Sorted by number; at least one. */
  readonly groups: readonly GroupRecord[]
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly changedAt: string
}

/** A range of slots and the shard that serves it. Without cluster mode there is one group for all slots. */
export interface GroupRecord {
  readonly number: number
  readonly slots: SlotRange
  /** The shard that serves: the endpoint's target. */
  readonly primaryShard: number | null
  /** Offset of the primary's history at the last look. */
  readonly history: History | null
}

/** `changing`: an action runs on an existing database. */
export type DatabaseStatus = 'pending' | 'active' | 'changing' | 'deleting' | 'creation-failed'

/** Resources of a database that are unique among all databases. */
export type Reserved = Pick<Database, 'uid' | 'endpointPort' | 'memoryBytes' | 'replicas'>

/** Resources of its node that a shard takes: these concern other databases, too. */
export type ShardPlace = Pick<
  ShardRecord,
  'id' | 'databaseUid' | 'nodeUid' | 'port' | 'tlsPort' | 'reservedBytes'
>

/** A shard in the store: what it should run, and where. */
export interface ShardRecord {
  readonly id: number
  readonly databaseUid: number
  readonly group: number
  readonly nodeUid: number
  readonly host: string
  readonly port: number
  /** Port for replicas with TLS; null without TLS. */
  readonly tlsPort: number | null
  readonly runs: Runs
  /** The shard to follow when its process starts; null: none. */
  readonly follows: number | null
  /** True if its retirement has begun: it is recorded only until its process is gone. */
  readonly leaving: boolean
  /** Bytes reserved on its node until it holds its data. */
  readonly reservedBytes: number
}

/** True if clients connect to one permanent address; otherwise they know the shards. */
export function hasEndpoint({ clientsKnowShards }: Pick<Database, 'clientsKnowShards'>): boolean {
  return !clientsKnowShards
}

/** Returns the goal of a database without a running action. */
export function steadyGoal(database: Database): Goal {
  return {
    kind: 'keep',
    ...runsOf(database),
    from: null,
    groups: database.groups.length,
    cluster: database.cluster,
    replicas: database.replicas,
    persistence: database.persistence,
    homes: [],
    preserveRoles: false,
    undo: false,
    discard: false,
    inPlace: false,
    policy: plainPolicy,
  }
}

/** Distributes the engines' hash slots evenly and in order among the groups. */
export function splitSlots(groups: number): readonly SlotRange[] {
  return Array.from({ length: groups }, (_, n) => ({
    first: Math.ceil((n * SLOTS) / groups),
    last: Math.ceil(((n + 1) * SLOTS) / groups) - 1,
  }))
}

const SLOTS = 16_384

/** Last known point of a primary's history: replication id and offset in bytes. */
export interface History {
  readonly replid: string
  readonly offset: number
  /** Run id of its process; null in records older than this field. */
  readonly runId: string | null
  /** The history that it branched off from, and the first different offset; absent if none or unknown. */
  readonly before?: { readonly replid: string; readonly until: number }
}

/** Reads an engine's former history; `secondOffset` is negative if there is none. */
export function historyBefore(said: {
  readonly replid2: string
  readonly secondOffset: number
}): Pick<History, 'before'> {
  const { replid2: replid, secondOffset: until } = said
  return until > 0 ? { before: { replid, until } } : {}
}

/** Includes both ends. */
export interface SlotRange {
  readonly first: number
  readonly last: number
}
