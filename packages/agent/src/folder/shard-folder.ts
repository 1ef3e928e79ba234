import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { ShardSpec } from '@fairlead/api'
import { codeOf } from '@fairlead/engine'
import { type Static, type TSchema, Type } from 'typebox'
import { parseAs } from '../process/check-schema.ts'
import { writeDurably } from '../process/durable-file.ts'
import { removeTree } from '../process/remove-tree.ts'

/** The spec of a shard, as the server put it last. */
const WantedRecord = Type.Object({
  spec: ShardSpec,
  /** Rises with every put that asks for a new process. A process of a lower order is to be replaced. */
  order: Type.Integer(),
  /** The shard is to be removed, with its data. */
  gone: Type.Boolean(),
})
/** What the server has asked of the shard, as its file holds it. */
export type WantedRecord = Static<typeof WantedRecord>

/** The last process of a shard: written before it is started, when it first answers, and when it has ended. */
const ProcessRecord = Type.Object({
  /** The order that this process fulfils. */
  order: Type.Integer(),
  /** What it was started with. It may differ from what is wanted now, the passwords included. */
  spec: ShardSpec,
  /** Null until it was started. */
  identity: Type.Union([
    Type.Object({ pid: Type.Integer(), startTime: Type.String(), bootId: Type.String() }),
    Type.Null(),
  ]),
  /** Unix milliseconds, as all times here. */
  startedAt: Type.Integer(),
  answeredAt: Type.Union([Type.Integer(), Type.Null()]),
  /** A process of this order has answered, this one or an earlier one. */
  proven: Type.Boolean(),
  /** `appendonly` in its configuration at the start. */
  appendonly: Type.Boolean(),
  /** `appendonly` to be set once it answers (see decide-appendonly.ts). */
  appendonlyLater: Type.Union([Type.Boolean(), Type.Null()]),
  /** An AOF rewritten after this moment holds every write, too: it was switched on while the process ran. */
  aofFrom: Type.Integer(),
  /** The files on disk at its start, the AOF since it was switched off, by their traces; null: none. Absent in records of older agents. */
  found: Type.Optional(
    Type.Object({
      snapshot: Type.Union([Type.String(), Type.Null()]),
      aof: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  /** What was true of the data on disk when it was started. */
  before: Type.Object({
    aofComplete: Type.Boolean(),
    stoppedCleanly: Type.Boolean(),
    /** There was a process before that had answered, and it died. Absent in records of older agents. */
    died: Type.Optional(Type.Boolean()),
  }),
  /** It was started within a wall. Absent: it was not, or an older agent has started it. */
  within: Type.Optional(Type.Literal(true)),
  /** One before it, of the same build and with the same modules, answered without a wall. Absent: none. */
  ranOutside: Type.Optional(Type.Literal(true)),
  /** Where in engine.log its own lines begin, in bytes. */
  logFrom: Type.Integer(),
  /** When we asked it to save and stop. */
  stoppingAt: Type.Union([Type.Integer(), Type.Null()]),
  /** The snapshot on disk then, by its trace; null: there was none. Absent in records of older agents. */
  snapshotBefore: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** `stopped`: we asked, and its data is saved. `died`: anything else. Null: as far as we know it runs. */
  ended: Type.Union([
    Type.Object({
      at: Type.Integer(),
      how: Type.Enum(['stopped', 'died']),
      why: Type.String(),
      /** Another process had its port. Absent: as far as its last words say, none had. */
      portTaken: Type.Optional(Type.Literal(true)),
    }),
    Type.Null(),
  ]),
  /** Deaths since the order. */
  crashes: Type.Integer(),
  /** Deaths since it last was healthy for a while: what the back-off counts. */
  streak: Type.Integer(),
  /** Deaths in a row of processes that had not answered, and how the last one ended. Absent: none. */
  unanswered: Type.Optional(Type.Object({ deaths: Type.Integer(), why: Type.String() })),
})
/** The process that was started last, as its file holds it. */
export type ProcessRecord = Static<typeof ProcessRecord>

/** What CONFIG GET * said when a process first answered. */
const Baseline = Type.Object({
  /** Which process it was, Unix milliseconds. */
  startedAt: Type.Integer(),
  settings: Type.Record(Type.String(), Type.String()),
})
/** As its file holds it: settings by name, of the process that `startedAt` tells from others. */
export type Baseline = Static<typeof Baseline>

/** The folder of one shard: what is wanted, what runs, its configuration and its data. */
export interface ShardFolder {
  readonly id: string
  readonly path: string
  readonly conf: string
  readonly acl: string
  readonly data: string
  /** The folder of the file of users, which an engine replaces. */
  readonly users: string
  /** What the engine reads to speak TLS with other shards. */
  readonly certificate: { readonly ca: string; readonly cert: string; readonly key: string }
  readonly log: string
  /** Where the node keeps the file of a module. */
  modulePath(sha256: string): string
  /** Makes the folder (0700), and those in it that the engine writes to. */
  create(): Promise<void>
  /** Null when there is none. Throws when the file cannot be understood. */
  readWanted(): Promise<WantedRecord | null>
  writeWanted(record: WantedRecord): Promise<void>
  readProcess(): Promise<ProcessRecord | null>
  writeProcess(record: ProcessRecord): Promise<void>
  readBaseline(): Promise<Baseline | null>
  writeBaseline(baseline: Baseline): Promise<void>
  /** Deletes it all. Interrupted at any point, nothing of the shard is found at the next start. */
  remove(): Promise<void>
}

/** Where a node keeps the files of modules, apart from the catalogue that a server on the same machine has. */
export function modulesFolder(home: string): string {
  return join(home, 'modules-of-node')
}

/** Where the module file with this hash (SHA-256, hexadecimal) lies on the node, below FAIRLEAD_HOME. */
export function modulePath(home: string, sha256: string): string {
  return join(modulesFolder(home), `${sha256}.so`)
}

/** The folder of shard `id` under `home`. `nodeHome` is where module files lie, if not there. Touches nothing yet. */
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
    ...{ data, users },
    certificate: {
      ca: join(path, 'shards-ca.pem'),
      cert: join(path, 'shards-cert.pem'),
      key: join(path, 'shards-key.pem'),
    },
    log: join(path, 'engine.log'),
    modulePath: (sha256) => modulePath(nodeHome, sha256),
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
      // Ids hold no dot, so this name is no shard's.
      const leaving = join(shardsFolder(home), `${LEAVING}${id}`)
      await removeTree(leaving)
      await rename(path, leaving).catch((cause: unknown) => {
        // An attempt before this one came as far as here.
        if (codeOf(cause) !== 'ENOENT') throw cause
      })
      await removeTree(leaving)
    },
  }
}

/** The folders of all shards under `home`, by id. Clears away what an interrupted removal has left. */
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
    // The message of a SyntaxError quotes the text, and there are passwords in it.
    const reason =
      cause instanceof Error && !(cause instanceof SyntaxError) ? cause.message : 'it is not JSON'
    throw new Error(`${path} cannot be understood: ${reason}`)
  }
}

/**
 * The files call a spec `wish`: files of an older agent can be read, and an older agent can read those of this one. A spec that was recorded
 * before there was cluster mode, modules or TLS is completed: its process serves on.
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
