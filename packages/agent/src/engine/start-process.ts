import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ShardSpec } from '@fairlead/api'
import { MAX_NODES_BYTES, mendClusterNodes } from '../folder/mend-cluster-nodes.ts'
import type { ShardFolder } from '../folder/shard-folder.ts'
import { boundLog } from '../process/bound-log.ts'
import { writeDurably } from '../process/durable-file.ts'
import { readPlainFile } from '../process/open-plain-file.ts'
import type { ProcessIdentity } from '../process/process-identity.ts'
import { removeFiles, removeTree } from '../process/remove-tree.ts'
import { prepareLog, startDetached } from '../process/start-detached.ts'
import type { StartedProcess } from '../process/started-process.ts'
import { engineConfig, userList } from './engine-config.ts'
import type { EngineWall } from './engine-wall.ts'
import { writeCertificate } from './shard-certificate.ts'

/** Matches files of unfinished saves. No engine deletes those of an earlier process. */
const unfinishedSaves = /^temp-(rewriteaof-(bg-)?)?[\d.]+\.(rdb|aof)$/

/** Writes the configuration for the next process. Returns the position of its first log line, in bytes. */
export async function prepareFolder(
  folder: ShardFolder,
  spec: ShardSpec,
  appendonly: boolean,
): Promise<number> {
  await folder.create()
  await removeFiles(folder.data, unfinishedSaves)
  await writeFile(folder.conf, engineConfig(spec, folder, appendonly), { mode: 0o600 })
  await replaceFile(folder.acl, userList(spec))
  if (spec.tls !== null) await writeCertificate(folder, spec.tls.certificate)
  if (spec.cluster) await mendFile(join(folder.data, 'nodes.conf'))
  // While no agent ran, the log may have grown without a limit.
  await boundLog(folder.log)
  return await prepareLog(folder.log)
}

/** An engine may have replaced it, even by a link. */
async function replaceFile(path: string, text: string): Promise<void> {
  await removeTree(path)
  await writeFile(path, text, { mode: 0o600, flag: 'wx' })
}

async function mendFile(path: string): Promise<void> {
  // A shard that never ran has none. A wrong file is left, so that its engine reports it.
  const text = await readPlainFile(path, MAX_NODES_BYTES).catch(() => '')
  const mended = mendClusterNodes(text)
  if (mended !== text) await writeDurably(path, mended)
}

/**
 * Starts the engine on the prepared folder, within the wall, as a process that outlives the agent.
 * `ranOutside`: see EngineStart. Throws if the program cannot be run.
 */
export async function startProcess(
  folder: ShardFolder,
  engine: {
    readonly program: string
    readonly modules: ShardSpec['modules']
    readonly ranOutside: boolean
  },
  wall: EngineWall,
): Promise<StartedProcess & { readonly within: boolean }> {
  const modules = engine.modules.map(({ sha256 }) => folder.modulePath(sha256))
  const { program, args, within } = await wall.command(folder, { ...engine, args: [folder.conf], modules })
  return { ...(await startDetached({ program, args, cwd: folder.path, log: folder.log })), within }
}

/** Describes how the process `identity` ended; unknown if another agent has started it. */
export async function describeEnd(
  child: StartedProcess | null,
  identity: ProcessIdentity | null,
): Promise<string> {
  if (child === null || child.identity.pid !== identity?.pid) return 'its process is gone'
  // /proc may show it some ms before the exit event.
  return await Promise.race([child.ended, delay(1_000, 'its process is gone', { ref: false })])
}
