import { type InfoFields, numberOf } from '@fairlead/engine'
import type { FileProgress, Saving } from '../../core/state/saving.ts'

/** What INFO says about the snapshots of an engine, and about the file that it is writing. */
export function readSaving(fields: InfoFields): Saving {
  const isWriting = fields['rdb_bgsave_in_progress'] === '1'
  const state = isWriting ? 'writing' : fields['rdb_last_bgsave_status'] === 'err' ? 'failed' : 'idle'
  // Redis 7 counts them; before, the time of the last snapshot is the start of the process until there is one.
  const none = fields['rdb_saves'] === '0'
  const lastAt = none ? null : numberOf(fields, 'rdb_last_save_time') * 1_000
  return { state, lastAt, progress: readFileProgress(fields) }
}

/** The progress of the child process that writes a snapshot or an append-only file. Engines update its number of keys about once a second. */
function readFileProgress(fields: InfoFields): FileProgress | null {
  const names = ['rdb_current_bgsave_time_sec', 'aof_current_rewrite_time_sec']
  const seconds = Math.max(...names.map((name) => Number(fields[name] ?? -1)))
  if (seconds < 0) return null
  if (fields['current_save_keys_processed'] === undefined) return { done: seconds, of: null }
  const [done, of] = ['processed', 'total'].map((name) => numberOf(fields, `current_save_keys_${name}`))
  return { done: done ?? 0, of: of ?? 0 }
}
