import { type Static, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { socketOperation } from '../contract/operation.ts'
import { removeBackup, reportBackups, startBackup } from './backup-operations.ts'
import { listFetches, startFetch } from './build-fetches.ts'
import { readLife } from './engine-tunnel.ts'
import { FoundBuild } from './found-build.ts'
import { reportStatistics } from './report-statistics.ts'
import {
  Build,
  Sha256,
  ShardCertificate,
  ShardId,
  ShardLimits,
  ShardPasswords,
  ShardReport,
  ShardSaving,
  ShardSpec,
  ShardUsers,
} from './shard-report.ts'
import { awaitChanges, ProxyState, reportShards } from './watch-operations.ts'

/**
 * The API between the server and a node's agent. It is declarative: the server sends the wanted shard, the
 * agent realizes it and reports the actual state. Its Unix socket is open only to the owner of FAIRLEAD_HOME,
 * so it has no permissions.
 */

const ofNode = {
  uid: Type.Integer(),
  host: Type.String(),
  cores: Type.Integer(),
  memoryTotalBytes: Type.Integer(),
  memoryFreeBytes: Type.Integer(),
  diskFreeBytes: Type.Integer(),
  /** SHA-256 of each complete module file, sorted. */
  modules: Type.Array(Type.String()),
  proxy: ProxyState,
  /** The reason why engines start without a wall; null: they have one. Absent from older agents. */
  noWall: Type.Optional(Type.Union([Type.String(), Type.Null()])),
}

/** An agent's report of its node, without shards; sizes in bytes. */
export const NodeFacts = Type.Object(ofNode)
export type NodeFacts = Static<typeof NodeFacts>

/** The same with all shards, and accordingly large. */
export const NodeReport = Type.Object({ ...ofNode, shards: Type.Array(ShardReport) })
export type NodeReport = Static<typeof NodeReport>

/** Server → agent. Used with `reportShards` instead of `reportNode`, which asks for all shards. */
export const describeNode = socketOperation({
  method: 'GET',
  path: '/agent/node',
  summary: 'Describe the node, without its shards',
  ok: NodeFacts,
})

/** Server → agent. Examines every process on request. */
export const reportNode = socketOperation({
  method: 'GET',
  path: '/agent/report',
  summary: 'Report the node and its shards',
  ok: NodeReport,
})

/**
 * Server → agent. Idempotent; from then on the agent keeps the shard's process running. A shard never moves
 * to another database, whose administrator has another password.
 */
export const putShard = socketOperation({
  method: 'PUT',
  path: '/agent/shards/:id',
  summary: 'Want this shard. Answers as soon as the spec is recorded; the report shows the result',
  fenced: true,
  params: ShardId,
  body: ShardSpec,
  ok: ShardReport,
  errors: ['unavailable', 'shard_of_another'],
})

/** Server → agent. Stored for the next start. */
export const putLimits = socketOperation({
  method: 'PUT',
  path: '/agent/shards/:id/limits',
  summary:
    'Start the next process of this shard with these limits. No running process is changed. No error if the shard does not exist, or is being removed',
  fenced: true,
  params: ShardId,
  body: ShardLimits,
  ok: Type.Object({ id: Type.String() }),
})

/** Server → agent. An append-only file is switched on by the server's plan; the report shows the result. */
export const putSaving = socketOperation({
  method: 'PUT',
  path: '/agent/shards/:id/saving',
  summary:
    'Let this shard save its data like this from now on, its running process too. Files of the former way are removed when they are not needed any more. No error if the shard does not exist, or is being removed',
  fenced: true,
  params: ShardId,
  body: ShardSaving,
  ok: Type.Object({ id: Type.String() }),
})

/** Server → agent. The report shows when the running process has them. */
export const putPasswords = socketOperation({
  method: 'PUT',
  path: '/agent/shards/:id/passwords',
  summary:
    "Give the database's user of this shard these passwords from now on, its running process too. No error if the shard does not exist, or is being removed",
  fenced: true,
  params: ShardId,
  body: ShardPasswords,
  ok: Type.Object({ id: Type.String() }),
})

/** Server → agent. The report shows when the running process has them. */
export const putUsers = socketOperation({
  method: 'PUT',
  path: '/agent/shards/:id/users',
  summary:
    'Let these users sign in to this shard from now on, its running process too, and no others that Fairlead made. No error if the shard does not exist, or is being removed',
  fenced: true,
  params: ShardId,
  body: ShardUsers,
  ok: Type.Object({ id: Type.String() }),
})

/** Server → agent. Replaces the certificate of the running process, which keeps its connections. */
export const putShardCertificate = socketOperation({
  method: 'PUT',
  path: '/agent/shards/:id/certificate',
  summary:
    'Let this shard prove itself with another certificate from now on, its running process too. No process is started or stopped. No error if the shard does not exist, is being removed, or has a plain bus',
  fenced: true,
  params: ShardId,
  body: ShardCertificate,
  ok: Type.Object({ id: Type.String() }),
})

/** Server → agent. After answering, the agent ends the process and deletes the folder. */
export const removeShard = socketOperation({
  method: 'DELETE',
  path: '/agent/shards/:id',
  summary: 'Want this shard gone, with its data. Idempotent; gone when the report no longer lists it',
  fenced: true,
  params: ShardId,
  ok: Type.Object({ id: Type.String() }),
})

/** Server → agent. `startedAt` (Unix milliseconds) identifies the process, so that no later one is ended. */
export const endShardProcess = socketOperation({
  method: 'POST',
  path: '/agent/shards/:id/end',
  summary:
    'End the process that was started then, because another shard can take its place: killed once it has hung for long enough. Void as soon as it answers',
  fenced: true,
  params: ShardId,
  body: closed({ startedAt: Type.Integer() }),
  ok: ShardReport,
  errors: ['unavailable'],
})

/** Server → agent. The first CONFIG GET *: differences were set at run time. */
export const readBaseline = socketOperation({
  method: 'GET',
  path: '/agent/shards/:id/baseline',
  summary:
    'The settings with which the last process of a shard began, secrets left out; null: there are none',
  params: ShardId,
  ok: Type.Object({
    /** The process's first CONFIG GET *: differences were set at run time. */
    settings: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
  }),
})

/** Server → agent. Starts only new or changed files. */
export const listBuilds = socketOperation({
  method: 'GET',
  path: '/agent/builds',
  summary: 'Look for engine builds on PATH and in the folder of builds, asking each new file for its version',
  ok: Type.Array(FoundBuild),
})

/** Server → agent. Another process may take the port before it is used. */
export const findFreePort = socketOperation({
  method: 'POST',
  path: '/agent/free-port',
  summary: 'The first port of a range on which no process listens',
  body: closed({
    from: Type.Integer(),
    to: Type.Integer(),
    except: Type.Array(Type.Integer()),
    /** Ports at these distances must be free, too: the bus of cluster mode is 10,000 above. */
    alsoFree: Type.Array(Type.Integer(), { maxItems: 16 }),
  }),
  ok: Type.Object({ port: Type.Union([Type.Integer(), Type.Null()]) }),
})

/** Settings to start a shard with. The agent chooses port and passwords, and removes everything later. */
export const TrialRequest = closed({
  build: Build,
  cluster: Type.Boolean(),
  ...Type.Pick(ShardSpec, [
    'persistence',
    'memoryBytes',
    'evictionPolicy',
    'aofFsync',
    'snapshots',
    'backlogBytes',
    'rdbVersionCheck',
    'modules',
  ]).properties,
  /** It must be able to speak TLS with this certificate; absent: not required. */
  certificate: Type.Optional(ShardCertificate),
  /** Run in order as the administrative user after the modules are loaded. Each has 2 s. */
  selfTest: Type.Array(
    Type.Object({
      command: Type.Array(Type.String(), { minItems: 1 }),
      /** The required answer; default: any but an error. */
      reply: Type.Optional(Type.Unknown()),
    }),
  ),
})
export type TrialRequest = Static<typeof TrialRequest>

/** The result of a trial. */
export const TrialResult = Type.Object({
  ok: Type.Boolean(),
  /** The failure, with the engine's last words; empty on success. */
  why: Type.String(),
  /** From the process's start to its answer, or until the agent gave up. */
  startMs: Type.Integer(),
  /** The version that the engine reports; empty if it never answered. */
  version: Type.String(),
  /** Another process took its port: the trial may pass on another one. */
  portTaken: Type.Optional(Type.Boolean()),
})
export type TrialResult = Static<typeof TrialResult>

/** Server → agent. Answers after the trial is removed again. */
export const tryBuild = socketOperation({
  method: 'POST',
  path: '/agent/trials',
  summary:
    'Start a build as a shard would be, write and read a key, run a self-test, end it. Takes up to 15 s and 2 s for each command of the test; two are made at a time',
  body: TrialRequest,
  ok: TrialResult,
})

const ModuleHash = Type.Object({ sha256: Sha256 })

/** Server → agent. The bytes are hashed before the file counts as present. */
export const putModule = socketOperation({
  method: 'PUT',
  path: '/agent/modules/:sha256',
  summary: 'Keep this module file. It is there whole, or not at all; putting it again is no error',
  params: ModuleHash,
  upload: 'octets',
  ok: ModuleHash,
})

/** Server → agent. Refuses with `module_in_use` while a shard of the node uses it. */
export const removeModule = socketOperation({
  method: 'DELETE',
  path: '/agent/modules/:sha256',
  summary: 'Drop this module file, unless a shard has it. Of a file that is not there: no error',
  params: ModuleHash,
  ok: ModuleHash,
  errors: ['module_in_use'],
})

/** All operations of an agent, over its Unix socket. */
export const agentOperations = {
  reportNode,
  describeNode,
  readLife,
  reportShards,
  awaitChanges,
  reportStatistics,
  putShard,
  putLimits,
  putSaving,
  putPasswords,
  putUsers,
  putShardCertificate,
  removeShard,
  endShardProcess,
  readBaseline,
  listBuilds,
  startFetch,
  listFetches,
  findFreePort,
  tryBuild,
  putModule,
  removeModule,
  startBackup,
  reportBackups,
  removeBackup,
}
