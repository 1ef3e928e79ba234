import type { Build } from '@fairlead/api'
import type { Goal, Runs } from './goal.ts'

/** A database as the store knows it. */
export interface Database {
  readonly uid: number
  readonly name: string
  readonly status: DatabaseStatus
  readonly build: Build
  readonly restartNonce: number
  /** Limit of one shard in bytes; 0 is unlimited. */
  readonly memoryBytes: number
  readonly replicas: number
  readonly persistence: Goal['persistence']
  readonly aofFsync: 'everysec' | 'always'
  readonly snapshots: readonly { readonly secs: number; readonly writes: number }[]
  readonly evictionPolicy: string
  readonly adminPassword: string
  readonly userPassword: string
  /** The shard that serves: where the endpoint points. */
  readonly primaryShard: number | null
  /** How far the primary's history was at the last look. */
  readonly history: { readonly replid: string; readonly offset: number } | null
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly changedAt: string
}

/** `changing`: an action runs on an existing database. */
export type DatabaseStatus = 'pending' | 'active' | 'changing' | 'deleting' | 'creation-failed'

/** A shard as the store knows it: what is wanted, and where. */
export interface ShardRecord {
  readonly id: number
  readonly databaseUid: number
  readonly nodeUid: number
  readonly host: string
  readonly port: number
  readonly runs: Runs
  /** Whom it shall follow when its process starts; null: nobody. */
  readonly follows: number | null
  /** Its retirement has begun: it is on record only until its process is gone. */
  readonly leaving: boolean
}

/** What is wanted of a database while no action runs on it. */
export function steadyGoal(database: Database): Goal {
  return {
    kind: 'keep',
    build: database.build,
    restartNonce: database.restartNonce,
    replicas: database.replicas,
    persistence: database.persistence,
    home: null,
    preserveRoles: false,
    undo: false,
  }
}
