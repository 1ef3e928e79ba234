import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Seed, ShardSpec } from '@fairlead/api'
import { codeOf } from '@fairlead/engine'
import { type Static, type TSchema, Type } from 'typebox'
import { parseAs } from '../process/check-schema.ts'
import { writeDurably } from '../process/durable-file.ts'
import { removeTree } from '../process/remove-tree.ts'
import { backupFile } from './backup-folder.ts'

/** The latest spec of a shard from the server. */
const WantedRecord = Type.Object({
  spec: ShardSpec,
  /** Rises with every put that requests a new process. A process of a lower order will be replaced. */
  order: Type.Integer(),
  /** True if the shard must be removed, with its data. */
  gone: Type.Boolean(),
})
/** The server's request for the shard, as in its file. */
export type WantedRecord = Static<typeof WantedRecord>

/** The last process of a shard: written before its start, after its first answer, and at its end. */
const ProcessRecord = Type.Object({
  /** The order that this process fulfils. */
  order: Type.Integer(),
  /** Spec at its start. It may differ from the wanted one, even in passwords. */
  spec: ShardSpec,
  /** Null until it was started. */
  identity: Type.Union([
    Type.Object({ pid: Type.Integer(), startTime: Type.String(), bootId: Type.String() }),
    Type.Null(),
  ]),
  /** Unix ms, as all times here. */
  startedAt: Type.Integer(),
  answeredAt: Type.Union([Type.Integer(), Type.Null()]),
  /** True if this or an earlier process of this order has answered. */
  proven: Type.Boolean(),
  /** `appendonly` in its configuration at the start. */
  appendonly: Type.Boolean(),
  /** `appendonly` to be set when it answers (see decide-appendonly.ts). */
  appendonlyLater: Type.Union([Type.Boolean(), Type.Null()]),
  /** An AOF rewritten after this time has every write, too: it was switched on while the process ran. */
  aofFrom: Type.Integer(),
  /** Traces of the files at its start (the AOF: since it was switched off). Absent in older records. */
  found: Type.Optional(
    Type.Object({
      snapshot: Type.Union([Type.String(), Type.Null()]),
      aof: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  /** Properties of the data on disk at its start. */
  before: Type.Object({
    aofComplete: Type.Boolean(),
    stoppedCleanly: Type.Boolean(),
    /** True if an earlier process had answered and died. Absent in older records. */
    died: Type.Optional(Type.Boolean()),
  }),
  /** True if it was started within a wall. Absent: not, or started by an older agent. */
  within: Type.Optional(Type.Literal(true)),
  /** True if an earlier process of the same build and modules answered without a wall. Absent: none. */
  ranOutside: Type.Optional(Type.Literal(true)),
  /** True while it is led to another way to save its data, or back. Absent: not. */
  changesSaving: Type.Optional(Type.Literal(true)),
  /** Data that it must have loaded; absent: none are known, or an earlier process has answered with them. */
  seed: Type.Optional(Seed),
  /** Position of its first line in engine.log, in bytes. */
  logFrom: Type.Integer(),
  /** Time of our request to save and stop. */
  stoppingAt: Type.Union([Type.Integer(), Type.Null()]),
  /** Trace of the snapshot on disk then; null: none. Absent in older records. */
  snapshotBefore: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** `stopped`: requested, and its data is saved. `died`: anything else. Null: as far as known, it runs. */
  ended: Type.Union([
    Type.Object({
      at: Type.Integer(),
      how: Type.Enum(['stopped', 'died']),
      why: Type.String(),
      /** True if another process had its port. Absent: its last log lines do not mention that. */
      portTaken: Type.Optional(Type.Literal(true)),
    }),
    Type.Null(),
  ]),
  /** Deaths since the order. */
  crashes: Type.Integer(),
  /** Deaths since it was last healthy for a while, for the back-off. */
  streak: Type.Integer(),
  /** Consecutive deaths of processes that had not answered, and the last end. Absent: none. */
  unanswered: Type.Optional(Type.Object({ deaths: Type.Integer(), why: Type.String() })),
})
/** The last started process, as in its file. */
export type ProcessRecord = Static<typeof ProcessRecord>

/** Reply of CONFIG GET * at a process's first answer. */
const Baseline = Type.Object({
  /** Start of its process, Unix ms. */
  startedAt: Type.Integer(),
  settings: Type.Record(Type.String(), Type.String()),
})
/** Settings by name, of the process that started at `startedAt`, as in its file. */
export type Baseline = Static<typeof Baseline>

/** The folder of one shard: wanted state, process, configuration and data. */
export interface ShardFolder {
  readonly id: string
  readonly path: string
  readonly conf: string
  readonly acl: string
  readonly data: string
  /** Folder of the file of users, which an engine replaces. */
  readonly users: string
  /** Files for TLS with other shards. */
  readonly certificate: { readonly ca: string; readonly cert: string; readonly key: string }
  readonly log: string
  /** Returns the node's path of a module file. */
  modulePath(sha256: string): string
  /** Returns the node's path of a file of a backup. */
  backupPath(of: Pick<Seed, 'backup' | 'group'>): string
  /** Makes the folder (0700), and its subfolders that the engine writes to. */
  create(): Promise<void>
  /** Null if there is none. Throws if the file is invalid. */
  readWanted(): Promise<WantedRecord | null>
  writeWanted(record: WantedRecord): Promise<void>
  readProcess(): Promise<ProcessRecord | null>
  writeProcess(record: ProcessRecord): Promise<void>
  readBaseline(): Promise<Baseline | null>
  writeBaseline(baseline: Baseline): Promise<void>
  /** Deletes everything. After an interruption, the next start finds nothing of the shard. */
  remove(): Promise<void>
}

/** Returns the node's folder of module files, separate from the catalogue of a server on the same machine. */
export function modulesFolder(home: string): string {
  return join(home, 'modules-of-node')
}

/** Returns the path of a module file by its hash (SHA-256, hexadecimal), below FAIRLEAD_HOME. */
export function modulePath(home: string, sha256: string): string {
  return join(modulesFolder(home), `${sha256}.so`)
}

/** Returns the folder of shard `id` under `home`, without touching it. `nodeHome` has the module files. */
export function shardFolder(home: string, id: string, nodeHome = home): ShardFolder {
  const path = join(shardsFolder(home), id)
  const wanted = join(path, 'wanted.json')
  const processFile = join(path, 'process.json')
  const baselineFile = join(path, 'baseline.json')
  const data = join(path, 'data')
  const users = join(path, 'users')
  return {
    id,
    path,
    conf: join(path, 'engine.conf'),
    acl: join(users, 'users.acl'),
    data,
    users,
    certificate: {
      ca: join(path, 'shards-ca.pem'),
      cert: join(path, 'shards-cert.pem'),
      key: join(path, 'shards-key.pem'),
    },
    log: join(path, 'engine.log'),
    modulePath: (sha256) => modulePath(nodeHome, sha256),
    backupPath: ({ backup, group }) => backupFile(nodeHome, backup, group),
    async create() {
      for (const each of [data, users]) await mkdir(each, { recursive: true, mode: 0o700 })
    },
    readWanted: () => readRecord(WantedRecord, wanted),
    writeWanted: (record) => writeDurably(wanted, toFile(record)),
    readProcess: () => readRecord(ProcessRecord, processFile),
    writeProcess: (record) => writeDurably(processFile, toFile(record)),
    readBaseline: () => readRecord(Baseline, baselineFile),
    writeBaseline: (baseline) => writeDurably(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`),
    async remove() {
      // Ids have no dot, so no shard has this name.
      const leaving = join(shardsFolder(home), `${LEAVING}${id}`)
      await removeTree(leaving)
      await rename(path, leaving).catch((cause: unknown) => {
        // An earlier attempt was interrupted here.
        if (codeOf(cause) !== 'ENOENT') throw cause
      })
      await removeTree(leaving)
    },
  }
}

/** Lists the folders of all shards under `home`, by id. Removes the rest of an interrupted removal. */
export async function listShardFolders(home: string): Promise<readonly ShardFolder[]> {
  await mkdir(shardsFolder(home), { recursive: true, mode: 0o700 })
  const names = await readdir(shardsFolder(home))
  for (const name of names.filter((each) => each.startsWith(LEAVING)))
    await removeTree(join(shardsFolder(home), name))
  return names
    .filter((name) => /^[a-z0-9-]{1,40}$/.test(name))
    .toSorted()
    .map((name) => shardFolder(home, name))
}

const LEAVING = '.leaving-'

function shardsFolder(home: string): string {
  return join(home, 'shards')
}

async function readRecord<Schema extends TSchema>(
  schema: Schema,
  path: string,
): Promise<Static<Schema> | null> {
  try {
    return parseAs(schema, await readFile(path, 'utf8'), readSpec)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null
    // The message of a SyntaxError quotes the text, which has passwords.
    const reason =
      cause instanceof Error && !(cause instanceof SyntaxError) ? cause.message : 'it is not JSON'
    throw new Error(`${path} cannot be understood: ${reason}`)
  }
}

/**
 * Files name a spec `wish`, for compatibility with older agents in both directions. A spec recorded before
 * cluster mode, modules or TLS existed is completed: its process continues to serve.
 */
function readSpec(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('wish' in value)) return value
  const { wish, ...others } = value
  const before = { cluster: false, rdbVersionCheck: 'strict', modules: [], tls: null }
  return { ...others, spec: typeof wish === 'object' ? { ...before, ...wish } : wish }
}

function toFile({ spec, ...others }: WantedRecord | ProcessRecord): string {
  return `${JSON.stringify({ wish: spec, ...others }, null, 2)}\n`
}
