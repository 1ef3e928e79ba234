import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { WantedShard } from '@fairlead/api'
import { boundLog } from './bound-log.ts'
import { writeDurably } from './durable-file.ts'
import { engineConfig, userList } from './engine-config.ts'
import type { EngineWall } from './engine-wall.ts'
import { MAX_NODES_BYTES, mendClusterNodes } from './mend-cluster-nodes.ts'
import { openPlainFile, readPlainFile } from './open-plain-file.ts'
import { identifyProcess, type ProcessIdentity } from './process-identity.ts'
import { removeTree } from './remove-tree.ts'
import { writeCertificate } from './shard-certificate.ts'
import type { ShardFolder } from './shard-folder.ts'

/** A log longer than this is put aside at the next start; one older log is kept. */
const MAX_LOG_BYTES = 10 * 1024 * 1024
const TO_APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT

/** Writes the configuration for the next process. Answers where in engine.log its lines will begin, in bytes. */
export async function prepareFolder(
  folder: ShardFolder,
  wish: WantedShard,
  appendonly: boolean,
): Promise<number> {
  await folder.create()
  await writeFile(folder.conf, engineConfig(wish, folder, appendonly), { mode: 0o600 })
  await replaceFile(folder.acl, userList(wish))
  if (wish.tls !== null) await writeCertificate(folder, wish.tls.certificate)
  if (wish.cluster) await mendFile(join(folder.data, 'nodes.conf'))
  // While no agent ran, it may have grown without a bound.
  await boundLog(folder.log)
  return await prepareLog(folder.log)
}

/** Puts a long log aside. Answers where in it the lines of the next process will begin, in bytes. */
export async function prepareLog(path: string): Promise<number> {
  await using log = await openPlainFile(path, TO_APPEND)
  const { size } = await log.stat()
  if (size <= MAX_LOG_BYTES) return size
  await rename(path, `${path}.1`)
  return 0
}

/** An engine may have put anything in its place, a link too. */
async function replaceFile(path: string, text: string): Promise<void> {
  await removeTree(path)
  await writeFile(path, text, { mode: 0o600, flag: 'wx' })
}

async function mendFile(path: string): Promise<void> {
  // A shard that never ran has none. What is no such file is left for its engine to complain of.
  const text = await readPlainFile(path, MAX_NODES_BYTES).catch(() => '')
  const mended = mendClusterNodes(text)
  if (mended !== text) await writeDurably(path, mended)
}

export interface StartedProcess {
  readonly identity: ProcessIdentity
  /** How it ended, in words: "exit code 1", "signal SIGKILL". Never rejects. */
  readonly ended: Promise<string>
}

/**
 * Starts the engine on the prepared folder, within the wall, as a process of its own that outlives the agent. Throws when the program
 * cannot be run.
 */
export async function startProcess(
  folder: ShardFolder,
  engine: { readonly program: string; readonly modules: WantedShard['modules'] },
  wall: EngineWall,
): Promise<StartedProcess> {
  const modules = engine.modules.map(({ sha256 }) => folder.modulePath(sha256))
  const { program, args } = await wall.command(folder, { ...engine, args: [folder.conf], modules })
  return await startDetached({ program, args, cwd: folder.path, log: folder.log })
}

/** Starts a program that outlives the agent, its output in the file `log`. Throws when it cannot be run. */
export async function startDetached(options: {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly log: string
  /** Besides PATH. */
  readonly env?: Readonly<Record<string, string>>
}): Promise<StartedProcess> {
  const { program, args, cwd, env } = options
  await using log = await openPlainFile(options.log, TO_APPEND)
  const child = spawn(program, args, {
    cwd,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    // Nothing of ours: the agent's environment may hold secrets.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env },
  })
  child.unref()
  const ended = readEnd(child)
  await once(child, 'spawn').catch(async (cause: unknown) => {
    throw new Error(await explainSpawnError(program, cause), { cause })
  })
  // A process that is gone already is found dead at the next look; no identity of a later one can match this.
  const identity = identifyProcess(child.pid ?? 0) ?? { pid: child.pid ?? 0, startTime: 'gone', bootId: '' }
  return { identity, ended }
}

function readEnd(child: ChildProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
  return promise
}

/** How the process `identity` ended, as far as it can be known: of a process that another agent has started, it cannot. */
export async function describeEnd(
  child: StartedProcess | null,
  identity: ProcessIdentity | null,
): Promise<string> {
  if (child === null || child.identity.pid !== identity?.pid) return 'its process is gone'
  // /proc may say it before the news of the exit has come; that takes milliseconds.
  return await Promise.race([child.ended, delay(1_000, 'its process is gone', { ref: false })])
}

async function explainSpawnError(program: string, cause: unknown): Promise<string> {
  const code = (cause as NodeJS.ErrnoException).code
  if (code === 'EACCES') return `${program} is not executable; make it so (chmod +x)`
  // ENOENT names a missing program, and also a missing interpreter of a script that is there.
  const there = await stat(program).then(
    () => true,
    () => false,
  )
  if (code === 'ENOENT')
    return `${program} ${there ? 'cannot be run: its interpreter is missing' : 'is missing'}`
  return `${program} cannot be run: ${code ?? String(cause)}`
}
