import type { Build } from '@fairlead/api'
import { type Goal, plainPolicy, type Runs, runsOf, type UsedModule } from './goal.ts'

/** A database as the store knows it. */
export interface Database {
  readonly uid: number
  readonly name: string
  readonly status: DatabaseStatus
  /** The obstacle that only a person can remove, as a sentence; null when there is none. */
  readonly obstacle: string | null
  readonly build: Build
  readonly restartNonce: number
  /** By name. */
  readonly modules: readonly UsedModule[]
  /** Limit of all primaries together in bytes, without memory for replication (engine-memory.ts); 0 is unlimited. */
  readonly memoryBytes: number
  readonly replicas: number
  readonly persistence: Goal['persistence']
  readonly aofFsync: 'everysec' | 'always'
  readonly snapshots: readonly { readonly secs: number; readonly writes: number }[]
  readonly evictionPolicy: string
  readonly adminPassword: string
  readonly userPassword: string
  /** Whether it runs in the engines' cluster mode. */
  readonly cluster: boolean
  /** In cluster mode: clients speak the cluster protocol to its shards. */
  readonly clientsKnowShards: boolean
  /**
   * True: all its shards speak TLS to each other, for its whole life. False: in cluster mode none does; otherwise those do that can, which are
   * those with a `tlsPort`.
   */
  readonly shardTls: boolean
  /** Clients speak TLS to its endpoint. */
  readonly tls: boolean
  /** The port where clients connect, for its whole life; null if they know its shards, and until it has been given one. */
  readonly endpointPort: number | null
  /** By number; at least one. */
  readonly groups: readonly GroupRecord[]
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly changedAt: string
}

/**
 * A range of slots and the shard that serves it. A database that is not in cluster mode has one group, for
 * all slots.
 */
export interface GroupRecord {
  readonly number: number
  readonly slots: SlotRange
  /** The shard that serves: where the endpoint points. */
  readonly primaryShard: number | null
  /** The offset of the primary's history at the last look. */
  readonly history: History | null
}

/** `changing`: an action runs on an existing database. */
export type DatabaseStatus = 'pending' | 'active' | 'changing' | 'deleting' | 'creation-failed'

/** The resources of a database that are unique among all databases. */
export type Reserved = Pick<Database, 'uid' | 'endpointPort' | 'memoryBytes' | 'replicas'>

/** The resources of its node that a shard takes: this concerns other databases, too. */
export type ShardPlace = Pick<
  ShardRecord,
  'id' | 'databaseUid' | 'nodeUid' | 'port' | 'tlsPort' | 'reservedBytes'
>

/** A shard as the store knows it: what it should run, and where. */
export interface ShardRecord {
  readonly id: number
  readonly databaseUid: number
  readonly group: number
  readonly nodeUid: number
  readonly host: string
  readonly port: number
  /** The port for replicas that speak TLS; null: it speaks no TLS. */
  readonly tlsPort: number | null
  readonly runs: Runs
  /** The shard that it follows when its process starts; null: none. */
  readonly follows: number | null
  /** True: its retirement has begun, and it is on record only until its process is gone. */
  readonly leaving: boolean
  /** Memory that is reserved for it on its node until it holds its data, in bytes. */
  readonly reservedBytes: number
}

/** Whether clients connect to one address that stays. Otherwise they know the shards. */
export function hasEndpoint({ clientsKnowShards }: Pick<Database, 'clientsKnowShards'>): boolean {
  return !clientsKnowShards
}

/** The goal of a database while no action runs on it. */
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

/** The engines' hash slots, distributed evenly and in order over the groups. */
export function splitSlots(groups: number): readonly SlotRange[] {
  return Array.from({ length: groups }, (_, n) => ({
    first: Math.ceil((n * SLOTS) / groups),
    last: Math.ceil(((n + 1) * SLOTS) / groups) - 1,
  }))
}

const SLOTS = 16_384

/** The last known point of a primary's history: replication id and offset in bytes. */
export interface History {
  readonly replid: string
  readonly offset: number
  /** The run id of its process; null in records that are older than this field. */
  readonly runId: string | null
  /** The history that it branched off from, and the first offset at which the two differ; absent: there is none, or it is not known. */
  readonly before?: { readonly replid: string; readonly until: number }
}

/** What an engine reports of the history before its own; `secondOffset` is negative if there is none. */
export function historyBefore(said: {
  readonly replid2: string
  readonly secondOffset: number
}): Pick<History, 'before'> {
  const { replid2: replid, secondOffset: until } = said
  return until > 0 ? { before: { replid, until } } : {}
}

/** Both ends belong to it. */
export interface SlotRange {
  readonly first: number
  readonly last: number
}
