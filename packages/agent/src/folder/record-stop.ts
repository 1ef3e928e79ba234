import type { ProcessIdentity } from '../process/process-identity.ts'
import { giveFolderBack } from './give-folder.ts'
import { traceOfSnapshot } from './read-data-on-disk.ts'
import type { ProcessRecord, ShardFolder } from './shard-folder.ts'

/**
 * Records by `save` that the process `identity` is asked to stop, with the snapshot on disk before that.
 * Gives the folder to its engine, so that it can save. Returns the record.
 */
export async function recordStop(
  folder: ShardFolder,
  last: ProcessRecord,
  identity: ProcessIdentity,
  save: (record: ProcessRecord) => Promise<void>,
): Promise<ProcessRecord> {
  const record = { ...last, stoppingAt: Date.now(), snapshotBefore: await traceOfSnapshot(folder.data) }
  await save(record)
  await giveFolderBack(folder, identity)
  return record
}
