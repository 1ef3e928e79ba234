import { type Static, Type } from 'typebox'
import { operation } from './operation.ts'
import { ProxyState } from './proxy-state.ts'
import { putLimits, ShardId, ShardLimits } from './put-limits.ts'

/**
 * The small API between the server and the agent of a node. It is declarative: the server puts the shard it wants,
 * the agent makes it so and reports what is. On one machine it is spoken over a Unix socket that only the owner of
 * FAIRLEAD_HOME can reach; hence no permissions here.
 */

export const Build = Type.Object({
  flavour: Type.String(),
  /** Full version, "8.1.1". */
  version: Type.String(),
})
export type Build = Static<typeof Build>

export const FoundBuild = Type.Object({
  flavour: Type.String(),
  version: Type.String(),
  source: Type.Enum(['path', 'folder']),
  /** The server program on that node. */
  program: Type.String(),
})
export type FoundBuild = Static<typeof FoundBuild>

export const Address = Type.Object({ host: Type.String(), port: Type.Integer() })
export type Address = Static<typeof Address>

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

/** A module that an engine process loads at its start. Its file is on the node before: see putModule. */
export const LoadedModule = Type.Object({
  sha256: Sha256,
  /** As MODULE LIST says it. */
  name: Type.String(),
  args: Type.Array(Type.String()),
})
export type LoadedModule = Static<typeof LoadedModule>

/** Everything the agent needs to start a shard's process. */
export const WantedShard = Type.Object(
  {
    build: Build,
    /** Digest of what needs a new process to change. Another one than the running process has: it is restarted. */
    revision: Type.String(),
    host: Type.String(),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** Follow this primary from the first moment on; null: start with the data on disk, as a primary. */
    replicaOf: Type.Union([Address, Type.Null()]),
    /** The engine's cluster mode. There `replicaOf` is kept by the engine itself, once the server has told it. */
    cluster: Type.Boolean(),
    /** `relaxed`: read data of other flavours too, where the build can (valkey 9 and later). */
    rdbVersionCheck: Type.Enum(['strict', 'relaxed']),
    /**
     * What to do when the process dies. `restart`: start it again with back-off. `wait`: report it and wait for the
     * server, because others may hold newer data: a primary that comes back empty would empty its replicas.
     */
    onCrash: Type.Enum(['restart', 'wait']),
    ...ShardLimits.properties,
    persistence: Type.Enum(['disabled', 'aof', 'snapshot']),
    aofFsync: Type.Enum(['everysec', 'always']),
    snapshots: Type.Array(Type.Object({ secs: Type.Integer(), writes: Type.Integer() })),
    backlogBytes: Type.Integer({ minimum: 0 }),
    /** A process whose module files are not there, or are others, is not started: the shard is `failed`. */
    modules: Type.Array(LoadedModule),
    /** Of the administrative user `fairlead`. */
    adminPassword: Type.String(),
    /** Of the database's user `default`, who has no administrative commands. */
    userPassword: Type.String(),
  },
  { additionalProperties: false },
)
export type WantedShard = Static<typeof WantedShard>

/**
 * `starting`: the process runs but has not answered yet. `running`: it answers. `stopping`: it is being ended, to
 * stop or to start anew. `exited`: it died, and is either waiting for its back-off or for the server (`onCrash`).
 * `failed`: it cannot be started (no build, port taken, bad data, …); `why` says it with the engine's own words.
 */
export const ShardReport = Type.Object({
  id: Type.String(),
  state: Type.Enum(['starting', 'running', 'stopping', 'exited', 'failed']),
  revision: Type.String(),
  build: Build,
  host: Type.String(),
  port: Type.Integer(),
  pid: Type.Union([Type.Integer(), Type.Null()]),
  /** Unix milliseconds; null while there is no process. */
  startedAt: Type.Union([Type.Integer(), Type.Null()]),
  /** Times the process died on its own since it was put. */
  crashes: Type.Integer(),
  /** Its last process was stopped on order, and saved everything before: its disk is as good as its memory was. */
  endedInOrder: Type.Boolean(),
  /** The process that is there took the place of one that had died: what that one had not saved is gone. */
  beganAfterDeath: Type.Boolean(),
  why: Type.String(),
  /** It ended, and only a put starts it again (`onCrash` wait). */
  asleep: Type.Boolean(),
  /** Of its wish: what its next process begins with. The one that runs may have been told otherwise since. */
  ...ShardLimits.properties,
  /**
   * The engine's last words, since its process started, about replication or persistence gone wrong. They stay when
   * it has recovered. Empty when there are none, and while there is no process.
   */
  trouble: Type.String(),
  /** While its process answers nobody; null otherwise. */
  silence: Type.Union([
    Type.Object({
      forMs: Type.Integer(),
      /** `works`: it uses the processor. `disk`: it waits for its disk. `stopped`: by a signal or a debugger. */
      doing: Type.Enum(['works', 'disk', 'stopped', 'idle']),
      /** It has done nothing for too long, and the agent will not end it by itself: see endShardProcess. */
      hung: Type.Boolean(),
      why: Type.String(),
      /** Its disk holds data of its persistence: they do not all end with it. */
      onDisk: Type.Boolean(),
    }),
    Type.Null(),
  ]),
})
export type ShardReport = Static<typeof ShardReport>

export const NodeReport = Type.Object({
  uid: Type.Integer(),
  host: Type.String(),
  cores: Type.Integer(),
  memoryTotalBytes: Type.Integer(),
  memoryFreeBytes: Type.Integer(),
  diskFreeBytes: Type.Integer(),
  shards: Type.Array(ShardReport),
  /** SHA-256 of each module file that is there and whole, sorted. */
  modules: Type.Array(Type.String()),
  proxy: ProxyState,
})
export type NodeReport = Static<typeof NodeReport>

export const reportNode = operation({
  method: 'GET',
  path: '/agent/report',
  summary: 'What is: the node and its shards',
  since: '0.1.0',
  permission: null,
  ok: NodeReport,
  errors: [],
})

export const putShard = operation({
  method: 'PUT',
  path: '/agent/shards/:id',
  summary: 'Want this shard. Answers as soon as the wish is recorded; the report shows what becomes of it',
  since: '0.1.0',
  permission: null,
  params: ShardId,
  body: WantedShard,
  ok: ShardReport,
  errors: ['unavailable'],
})

export const removeShard = operation({
  method: 'DELETE',
  path: '/agent/shards/:id',
  summary: 'Want this shard gone, with its data. Idempotent; gone when the report no longer lists it',
  since: '0.1.0',
  permission: null,
  params: ShardId,
  ok: Type.Object({ id: Type.String() }),
  errors: [],
})

export const endShardProcess = operation({
  method: 'POST',
  path: '/agent/shards/:id/end',
  summary:
    'End the process that was started then, because another shard can take its place: killed once it has hung for long enough. Void as soon as it answers',
  since: '0.1.0',
  permission: null,
  params: ShardId,
  body: Type.Object({ startedAt: Type.Integer() }, { additionalProperties: false }),
  ok: ShardReport,
  errors: ['unavailable'],
})

export const readBaseline = operation({
  method: 'GET',
  path: '/agent/shards/:id/baseline',
  summary:
    'The settings with which the last process of a shard began, secrets left out; null: there are none',
  since: '0.1.0',
  permission: null,
  params: ShardId,
  ok: Type.Object({
    /** CONFIG GET *, asked when the process first answered: what differs now was set at run time. */
    settings: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
  }),
  errors: [],
})

export const listBuilds = operation({
  method: 'GET',
  path: '/agent/builds',
  summary: 'Look for engine builds on PATH and in the folder of builds, asking each new file for its version',
  since: '0.1.0',
  permission: null,
  ok: Type.Array(FoundBuild),
  errors: [],
})

export const findFreePort = operation({
  method: 'POST',
  path: '/agent/free-port',
  summary: 'The first port of a range that nobody listens on',
  since: '0.1.0',
  permission: null,
  body: Type.Object(
    {
      from: Type.Integer(),
      to: Type.Integer(),
      except: Type.Array(Type.Integer()),
      /** Ports at these distances above it must be free too: the bus of cluster mode is 10,000 above. */
      alsoFree: Type.Array(Type.Integer()),
    },
    { additionalProperties: false },
  ),
  ok: Type.Object({ port: Type.Union([Type.Integer(), Type.Null()]) }),
  errors: [],
})

/** What a shard would be started with. The agent chooses port and passwords, and nothing of it stays. */
export const TrialRequest = Type.Object(
  {
    build: Build,
    cluster: Type.Boolean(),
    ...Type.Pick(WantedShard, [
      'persistence',
      'memoryBytes',
      'evictionPolicy',
      'aofFsync',
      'snapshots',
      'backlogBytes',
      'rdbVersionCheck',
      'modules',
    ]).properties,
    /** Run in order as the administrative user, once the build has loaded its modules. Each has 2 s to be answered. */
    selfTest: Type.Array(
      Type.Object({
        command: Type.Array(Type.String(), { minItems: 1 }),
        /** What is to be answered; without it, anything but an error. */
        reply: Type.Optional(Type.Unknown()),
      }),
    ),
  },
  { additionalProperties: false },
)
export type TrialRequest = Static<typeof TrialRequest>

export const TrialResult = Type.Object({
  ok: Type.Boolean(),
  /** Why not, with the engine's own last words; empty when it did. */
  why: Type.String(),
  /** From the start of the process until it answered, or until that was given up. */
  startMs: Type.Integer(),
  /** What the engine says of itself; empty when it never answered. */
  version: Type.String(),
})
export type TrialResult = Static<typeof TrialResult>

export const tryBuild = operation({
  method: 'POST',
  path: '/agent/trials',
  summary:
    'Start a build as a shard would be, write and read a key, run a self-test, end it. Takes up to 15 s and 2 s for each command of the test; two are made at a time',
  since: '0.1.0',
  permission: null,
  body: TrialRequest,
  ok: TrialResult,
  errors: [],
})

const ModuleHash = Type.Object({ sha256: Sha256 })

export const putModule = operation({
  method: 'PUT',
  path: '/agent/modules/:sha256',
  summary: 'Keep this module file. It is there whole, or not at all; putting it again is no error',
  since: '0.1.0',
  permission: null,
  params: ModuleHash,
  upload: 'octets',
  ok: ModuleHash,
  errors: [],
})

export const removeModule = operation({
  method: 'DELETE',
  path: '/agent/modules/:sha256',
  summary: 'Drop this module file, unless a shard has it. Of a file that is not there: no error',
  since: '0.1.0',
  permission: null,
  params: ModuleHash,
  ok: ModuleHash,
  errors: ['module_in_use'],
})

export const agentOperations = {
  reportNode,
  putShard,
  putLimits,
  removeShard,
  endShardProcess,
  readBaseline,
  listBuilds,
  findFreePort,
  tryBuild,
  putModule,
  removeModule,
}
