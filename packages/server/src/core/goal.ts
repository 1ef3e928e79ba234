import type { Build } from '@fairlead/api'

/** The closed form of what is wanted of a database. Settled once; nobody reads the request again. */
export interface Goal {
  /** `remove`: no shard shall be left. */
  readonly kind: 'keep' | 'remove'
  readonly build: Build
  /** Raised by a forced restart, so that "restart everything" is observable as a revision. */
  readonly restartNonce: number
  /** Replicas besides the primary. */
  readonly replicas: number
  readonly persistence: 'disabled' | 'aof' | 'snapshot'
  /** The shard that was primary when the goal was accepted; null while a database is created. */
  readonly home: number | null
  /** Home shall be primary again in the end. */
  readonly preserveRoles: boolean
  /** It takes back an upgrade: what the shards of the other revision wrote to disk may be unreadable for this one. */
  readonly undo: boolean
}

/** What a shard's process runs: everything that needs a new process to change. */
export interface Runs {
  readonly build: Build
  readonly restartNonce: number
}

/**
 * The revision of a shard process, as one readable word: "valkey-8.1.1+0".
 *
 * Shards whose revision is not the goal's are restarted, so this text must never change for the same process: an
 * upgrade of Fairlead would restart every database. Pinned by a test.
 */
export function revisionOf({ build, restartNonce }: Runs): string {
  return `${build.flavour}-${build.version}+${restartNonce}`
}
