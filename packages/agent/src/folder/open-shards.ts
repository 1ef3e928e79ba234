import type { Logger } from 'pino'
import { findEngineProcess, isAlive } from '../process/process-identity.ts'
import { listShardFolders, type ProcessRecord, type ShardFolder, type WantedRecord } from './shard-folder.ts'

/** Contents of a shard's folder at the agent's start; `last` is null if no process was ever started. */
export interface FoundShard {
  readonly folder: ShardFolder
  readonly wanted: WantedRecord
  readonly last: ProcessRecord | null
}

/**
 * Reads all shards under `home` with their last process, even one started without recording its pid. An
 * unreadable folder is logged and left alone, for a person.
 */
export async function openShards(home: string, logger: Logger): Promise<readonly FoundShard[]> {
  const folders = await listShardFolders(home)
  const found = await Promise.all(folders.map((folder) => openShard(folder, logger)))
  return found.filter((shard) => shard !== null)
}

/** Returns whether the shard's last process runs. */
export function isRunning({ last }: FoundShard): boolean {
  return last?.identity != null && last.ended === null && isAlive(last.identity)
}

/** Null if the folder holds no shard. */
export async function openShard(folder: ShardFolder, logger: Logger): Promise<FoundShard | null> {
  try {
    const wanted = await folder.readWanted()
    if (!wanted) return null
    const last = await folder.readProcess()
    if (!last || last.ended || last.identity) return { folder, wanted, last }
    const identity = findEngineProcess(folder.path, folder.conf, last.spec.port)
    return { folder, wanted, last: { ...last, identity } }
  } catch (cause) {
    logger.error({ err: cause, shard: folder.id }, 'shard folder cannot be read; it is left alone')
    return null
  }
}
