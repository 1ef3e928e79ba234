import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { waitForEnd } from '../engine/stop-process.ts'
import { listShardFolders, type ShardFolder, shardFolder } from '../folder/shard-folder.ts'
import { findEngineProcess, signalProcess } from '../process/process-identity.ts'

const ENDS_WITHIN_MS = 2_000
/** For all processes in the folder: a hostile module could always start new ones. */
const ALL_END_WITHIN_MS = 10_000

/** Returns a folder for one trial, separate from shards. Its name has the port, to find its process. */
export function trialFolder(home: string, port: number): ShardFolder {
  return shardFolder(trialsHome(home), `${port}-${randomBytes(4).toString('hex')}`, home)
}

/** Ends and removes trials that a killed agent left. Failures are logged. */
export async function clearTrials(home: string, logger: Logger): Promise<void> {
  for (const folder of await listShardFolders(trialsHome(home))) {
    try {
      await removeTrial(folder)
      logger.info({ trial: folder.id }, 'the rest of an interrupted trial is cleared away')
    } catch (cause) {
      logger.error({ err: cause, trial: folder.id }, 'the rest of a trial cannot be cleared away')
    }
  }
}

/** Ends every engine in the folder, and deletes it. Throws if one does not end, or new ones keep coming. */
export async function removeTrial(folder: ShardFolder): Promise<void> {
  const port = Number.parseInt(folder.id, 10)
  const deadline = performance.now() + ALL_END_WITHIN_MS
  // In sequence: when its parent is gone, a fork is found next.
  for (;;) {
    const identity = findEngineProcess(folder.path, folder.conf, port)
    if (!identity) return await folder.remove()
    if (performance.now() > deadline)
      throw new Error(`new processes replace those that are ended; the last one is ${identity.pid}`)
    signalProcess(identity, 'SIGKILL')
    if (!(await waitForEnd(identity, ENDS_WITHIN_MS, new AbortController().signal)))
      throw new Error(`process ${identity.pid} does not end`)
  }
}

function trialsHome(home: string): string {
  return join(home, 'trials')
}
