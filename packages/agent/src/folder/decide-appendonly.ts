import type { ShardSpec } from '@fairlead/api'

/** What lies in the data folder of a shard without a process. */
export interface DataOnDisk {
  readonly snapshot: boolean
  readonly aof: boolean
  /** The AOF holds every write of the last process: it was switched on in it, at its start or later. */
  readonly aofComplete: boolean
  /** The last process wrote a snapshot when it was asked to stop, and ended. */
  readonly stoppedCleanly: boolean
}

export interface AppendonlyDecision {
  /** `appendonly` in the configuration: it decides which file the engine loads. */
  readonly atStart: boolean
  /** What to set once it has loaded and answers; null: nothing. */
  readonly later: boolean | null
  readonly why: string
}

/**
 * Decides `appendonly`, so that the newest data on disk is what gets loaded. With `appendonly yes` an engine loads the
 * AOF and nothing else: without one it starts empty though a snapshot lies there (measured on redis 7.0 and valkey
 * 8.0, 8.1), and one that was switched off for a while would bring back old data.
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
