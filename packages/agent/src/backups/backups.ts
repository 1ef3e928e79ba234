import { type Input, type LoadedModule, type NodeBackup, Refusal, type startBackup } from '@fairlead/api'
import { connectEngine, messageOf, numberOf, readInfo } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { EngineTarget } from '../engine/ask-engine.ts'
import { openBackupFolder } from '../folder/backup-folder.ts'
import { readDiskFree } from '../node/read-node.ts'
import type { Trials } from '../trials/trials.ts'
import { chooseSender, type Sender } from './choose-sender.ts'
import { streamSnapshot } from './stream-snapshot.ts'

/** Makes, proves, lists and deletes backups of a node. Dispose to end those that are being made. */
export interface Backups extends AsyncDisposable {
  /** Begins one, which the list shows. Refuses without room, or while one of the database is made. */
  start(request: Request): Promise<NodeBackup>
  /** The newest first. */
  list(): Promise<NodeBackup[]>
  /** Deletes one, and ends one that is being made. */
  remove(name: string): Promise<void>
}

type Request = Input<typeof startBackup>['body']
type GroupRequest = Request['groups'][number]

interface BackupSettings {
  readonly home: string
  readonly trials: Pick<Trials, 'load'>
  /** The agent's login to a shard; undefined: unknown. */
  readonly target: (shard: string) => EngineTarget | undefined
  readonly memoryFreeBytes: () => Promise<number>
  readonly logger: Logger
}

/** A backup that is being made. */
interface Job {
  readonly backup: NodeBackup
  readonly modules: readonly LoadedModule[]
  readonly end: AbortController
  done: Promise<void>
}

/** Stays free for the engines of the node: a backup ends before it takes their room. */
const KEPT_FREE_BYTES = 32 * 1024 * 1024
/** The disk is looked at after as many bytes. */
const LOOK_AFTER_BYTES = 8 * 1024 * 1024
const ASKS_WITHIN_MS = 5_000
/** The reason for ending a backup that a user has deleted. */
const deleted = new Error('it was deleted while it was being made')

/** Opens the backups under `home`. Those that an earlier agent did not complete have failed. */
export async function openBackups(settings: BackupSettings): Promise<Backups> {
  const { home, logger } = settings
  const folder = await openBackupFolder(home, logger)
  const running = new Map<string, Job>()

  const work = async (job: Job, groups: readonly GroupRequest[]) => {
    const { backup, end } = job
    try {
      const pathOf = await folder.begin(backup)
      const files = await makeFiles(job, groups, pathOf, settings)
      await folder.complete({ ...backup, state: 'done', provedAt: Date.now(), groups: files })
      logger.info({ backup: backup.name, bytes: backup.bytes }, 'a backup is complete and proved')
    } catch (cause) {
      const why = end.signal.aborted ? messageOf(end.signal.reason) : messageOf(cause)
      if (end.signal.reason === deleted) logger.info({ backup: backup.name }, `a backup has ended: ${why}`)
      else logger.error({ err: cause, backup: backup.name }, 'a backup has failed')
      await folder
        .giveUp({ ...backup, state: 'failed', why })
        .catch((err: unknown) => logger.error({ err }, 'its rest is not cleared away'))
    } finally {
      running.delete(backup.name)
    }
  }
  const list = async () => {
    const made = [...running.values()].map(({ backup }) => ({ ...backup }))
    const names = new Set(made.map(({ name }) => name))
    return [...made, ...(await folder.list()).filter(({ name }) => !names.has(name))]
  }
  return {
    list,
    async start({ name, database, modules, groups }) {
      const other = [...running.values()].find(({ backup }) => backup.database.uid === database.uid)
      if (other !== undefined)
        throw new Refusal('db_busy', `backup ${other.backup.name} of ${database.name} is being made`)
      const facts = { manifest: 1, state: 'running', why: '', startedAt: Date.now(), provedAt: null } as const
      const backup: NodeBackup = { ...facts, name, bytes: 0, database, groups: [] }
      const job: Job = { backup, modules, end: new AbortController(), done: Promise.resolve() }
      // Noted before the first wait, so that there is no second one.
      running.set(name, job)
      try {
        await refuseWithoutRoom(groups, settings)
        const known = await folder.list()
        rename(job, freeName(name, known), running)
        // Only its last failure is of interest.
        for (const old of known.filter((one) => one.state === 'failed' && one.database.uid === database.uid))
          await folder.remove(old.name)
      } catch (cause) {
        running.delete(backup.name)
        throw cause
      }
      job.done = work(job, groups)
      return { ...backup }
    },
    async remove(name) {
      const job = running.get(name)
      job?.end.abort(deleted)
      await job?.done
      await folder.remove(name)
    },
    async [Symbol.asyncDispose]() {
      const jobs = [...running.values()]
      for (const { end } of jobs) end.abort(new Error('the agent was stopped while it was being made'))
      await Promise.all(jobs.map(({ done }) => done))
    },
  }
}

function freeName(name: string, known: readonly NodeBackup[]): string {
  const isTaken = (wanted: string) => known.some((one) => one.name === wanted)
  for (let n = 1, free = name; ; n += 1, free = `${name}-${n}`) if (!isTaken(free)) return free
}

function rename(job: Job, name: string, running: Map<string, Job>): void {
  running.delete(job.backup.name)
  job.backup.name = name
  running.set(name, job)
}

/** All groups at the same moment, as far as possible; then one proof after the other. */
async function makeFiles(
  job: Job,
  groups: readonly GroupRequest[],
  pathOf: (group: number) => string,
  { home, target, trials }: BackupSettings,
): Promise<NodeBackup['groups']> {
  const { backup, end, modules } = job
  const { signal } = end
  const { build, cluster } = backup.database
  const room = watchRoom(home)
  const onBytes = async (bytes: number) => {
    backup.bytes += bytes
    await room.take(bytes)
  }
  const copied = await allOrNone(end, groups, async ({ number, slots, primary, replicas }) => {
    const senders = replicas.map((shard) => senderOf(shard, target))
    const { shard, target: from } = await chooseSender(senderOf(primary, target), senders, signal)
    const snapshot = await streamSnapshot(from, build, pathOf(number), { signal, onBytes })
    return { number, slots, shard, ...snapshot }
  })
  const proved: NodeBackup['groups'] = []
  for (const file of copied) {
    const request = { ...plain, snapshots: [], selfTest: [], build, cluster: false, modules: [...modules] }
    const snapshot = { path: pathOf(file.number), sha256: file.sha256 }
    const { ok, why, data } = await trials.load(request, snapshot, signal)
    if (!ok || data === undefined)
      throw new Error(`the file of group ${file.number} cannot be loaded: ${why}`)
    if (cluster && data.databases.some(({ number }) => number !== 0))
      throw new Error(`the file of group ${file.number} has keys outside of database 0`)
    proved.push({ ...file, data })
  }
  return proved
}

/** Loads whatever is in the file: no limit, and no persistence of its own. */
const plain = {
  persistence: 'disabled',
  memoryBytes: 0,
  evictionPolicy: 'noeviction',
  aofFsync: 'everysec',
  backlogBytes: 0,
  rdbVersionCheck: 'strict',
} as const

/** Returns all results. When one fails, the others are ended first. */
async function allOrNone<Item, Result>(
  end: AbortController,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const all = items.map(work)
  try {
    return await Promise.all(all)
  } catch (cause) {
    end.abort(cause)
    await Promise.allSettled(all)
    throw cause
  }
}

function senderOf(shard: string, target: BackupSettings['target']): Sender {
  const found = target(shard)
  if (found === undefined) throw new Error(`there is no shard ${shard} on this node`)
  return { shard, target: found }
}

/** A snapshot is rarely larger than the data in memory, and the proof has a copy of one file. */
async function refuseWithoutRoom(
  groups: readonly GroupRequest[],
  { home, target, memoryFreeBytes }: BackupSettings,
): Promise<void> {
  const sizes = await Promise.all(groups.map(({ primary }) => readUsedMemory(primary, target)))
  const [sum, largest] = [sizes.reduce((all, size) => all + size, 0), Math.max(...sizes)]
  const [disk, memory] = await Promise.all([readDiskFree(home), memoryFreeBytes()])
  const needed = sum + largest + KEPT_FREE_BYTES
  if (disk < needed)
    throw new Refusal(
      'insufficient_resources',
      `a backup may need ${needed} bytes on the disk of the node, which has ${disk}: delete backups, or make room`,
    )
  if (memory < largest)
    throw new Refusal(
      'insufficient_resources',
      `the proof of a backup may need ${largest} bytes of memory, and the node has ${memory}`,
    )
}

async function readUsedMemory(shard: string, targetOf: BackupSettings['target']): Promise<number> {
  try {
    const { address, login } = senderOf(shard, targetOf).target
    const limits = { connectTimeoutMs: ASKS_WITHIN_MS, commandTimeoutMs: ASKS_WITHIN_MS }
    using engine = await connectEngine({ address, login, ...limits })
    return numberOf(readInfo(await engine.info('memory')), 'used_memory')
  } catch (cause) {
    throw new Refusal('unavailable', `shard ${shard} cannot be backed up now: ${messageOf(cause)}`, { cause })
  }
}

/** Throws before the disk is so full that engines could not write. */
function watchRoom(home: string) {
  let unseen = 0
  return {
    async take(bytes: number): Promise<void> {
      unseen += bytes
      if (unseen < LOOK_AFTER_BYTES) return
      unseen = 0
      const free = await readDiskFree(home)
      if (free < KEPT_FREE_BYTES) throw new Error(`the disk of the node has only ${free} bytes left`)
    },
  }
}
