import type { Build } from '@fairlead/api'
import { type Goal, plainPolicy, type Runs, runsOf, type UsedModule } from './goal.ts'

/** A database as the store knows it. */
export interface Database {
  readonly uid: number
  readonly name: string
  readonly status: DatabaseStatus
  /** What only a person can remove, for people; null when there is nothing. */
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
  /** It runs in the engines' cluster mode. */
  readonly cluster: boolean
  /** In cluster mode: clients speak the cluster protocol to its shards. */
  readonly clientsKnowShards: boolean
  /**
   * All its shards speak TLS to each other, for its whole life. False: in cluster mode none does; otherwise those that can, which are
   * those with a `tlsPort`.
   */
  readonly shardTls: boolean
  /** Clients speak TLS to its endpoint. */
  readonly tls: boolean
  /** Where clients connect, for its whole life; null where they know its shards, and until it was given one. */
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
  /** How far the primary's history was at the last look. */
  readonly history: History | null
}

/** `changing`: an action runs on an existing database. */
export type DatabaseStatus = 'pending' | 'active' | 'changing' | 'deleting' | 'creation-failed'

/** The resources that a database takes from those of all databases. */
export type Reserved = Pick<Database, 'uid' | 'endpointPort' | 'memoryBytes' | 'replicas'>

/** What a shard takes of its node: this concerns other databases, too. */
export type ShardPlace = Pick<
  ShardRecord,
  'id' | 'databaseUid' | 'nodeUid' | 'port' | 'tlsPort' | 'reservedBytes'
>

/** A shard as the store knows it: what is wanted, and where. */
export interface ShardRecord {
  readonly id: number
  readonly databaseUid: number
  readonly group: number
  readonly nodeUid: number
  readonly host: string
  readonly port: number
  /** Where replicas find it that speak TLS; null: it does not. */
  readonly tlsPort: number | null
  readonly runs: Runs
  /** The shard that it follows when its process starts; null: none. */
  readonly follows: number | null
  /** Its retirement has begun: it is on record only until its process is gone. */
  readonly leaving: boolean
  /** Memory kept free for it on its node until it holds its data, in bytes. */
  readonly reservedBytes: number
}

/** Clients connect to one address that stays. The others know the shards. */
export function hasEndpoint({ clientsKnowShards }: Pick<Database, 'clientsKnowShards'>): boolean {
  return !clientsKnowShards
}

/** What is wanted of a database while no action runs on it. */
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

/** The engines' hash slots, given out evenly and in order. */
export function splitSlots(groups: number): readonly SlotRange[] {
  return Array.from({ length: groups }, (_, n) => ({
    first: Math.ceil((n * SLOTS) / groups),
    last: Math.ceil(((n + 1) * SLOTS) / groups) - 1,
  }))
}

const SLOTS = 16_384

/** How far the history of a primary is known to reach: replication id and offset in bytes. */
export interface History {
  readonly replid: string
  readonly offset: number
  /** Of the process that had it; null when the record is older than this. */
  readonly runId: string | null
  /** The history that it branched off from, and the first offset at which the two differ; absent: there is none, or it is not known. */
  readonly before?: { readonly replid: string; readonly until: number }
}

/** What an engine says of the history before its own; `secondOffset` is negative where there is none. */
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
