import type { ShardSpec } from '@fairlead/api'

/** Contents of the data folder of a shard without a process. */
export interface DataOnDisk {
  readonly snapshot: boolean
  readonly aof: boolean
  /** True if the AOF has every write of the last process: it was switched on at its start or later. */
  readonly aofComplete: boolean
  /** True if the last process wrote a snapshot when asked to stop, and ended. */
  readonly stoppedCleanly: boolean
}

export interface AppendonlyDecision {
  /** `appendonly` in the configuration: it decides which file the engine loads. */
  readonly atStart: boolean
  /** Value to set when it has loaded and answers; null: none. */
  readonly later: boolean | null
  readonly why: string
}

/**
 * Decides `appendonly`, so that the engine loads the newest data on disk. With `appendonly yes` it loads only
 * the AOF: without one it starts empty despite a snapshot (measured on Redis 7.0 and Valkey 8.0, 8.1), and an
 * AOF that was switched off for a while would restore old data.
 */
export function decideAppendonly(
  spec: Pick<ShardSpec, 'replicaOf' | 'persistence'>,
  disk: DataOnDisk,
): AppendonlyDecision {
  const wantsAof = spec.persistence === 'aof'
  if (spec.replicaOf !== null)
    return {
      atStart: false,
      later: null,
      why: 'a replica resumes from the snapshot; the server switches the append-only file on later',
    }
  if (disk.aof && disk.aofComplete && (wantsAof || !disk.stoppedCleanly))
    return { atStart: true, later: wantsAof ? null : false, why: 'the append-only file holds every write' }
  if (disk.snapshot)
    return { atStart: false, later: wantsAof ? true : null, why: 'the snapshot is the newest data' }
  if (disk.aof)
    return { atStart: true, later: wantsAof ? null : false, why: 'there is only an older append-only file' }
  return { atStart: wantsAof, later: null, why: 'there is no data yet' }
}
