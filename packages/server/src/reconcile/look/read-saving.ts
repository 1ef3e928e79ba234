import { type InfoFields, numberOf } from '@fairlead/engine'
import type { FileProgress, Saving } from '../../core/state/saving.ts'

/** Reads the state of snapshots, and the file being written, from INFO. */
export function readSaving(fields: InfoFields): Saving {
  const isWriting = fields['rdb_bgsave_in_progress'] === '1'
  const state = isWriting ? 'writing' : fields['rdb_last_bgsave_status'] === 'err' ? 'failed' : 'idle'
  // Redis 7 counts snapshots; before, the time of the last one is initially the start of the process.
  const none = fields['rdb_saves'] === '0'
  const lastAt = none ? null : numberOf(fields, 'rdb_last_save_time') * 1_000
  return { state, lastAt, progress: readFileProgress(fields) }
}

/**
 * Reads the progress of the child process that writes a snapshot or append-only file. Engines update its
 * number of keys about once a second.
 */
function readFileProgress(fields: InfoFields): FileProgress | null {
  const names = ['rdb_current_bgsave_time_sec', 'aof_current_rewrite_time_sec']
  const seconds = Math.max(...names.map((name) => Number(fields[name] ?? -1)))
  if (seconds < 0) return null
  if (fields['current_save_keys_processed'] === undefined) return { done: seconds, of: null }
  const [done, of] = ['processed', 'total'].map((name) => numberOf(fields, `current_save_keys_${name}`))
  return { done: done ?? 0, of: of ?? 0 }
}
