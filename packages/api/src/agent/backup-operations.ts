import { type Static, Type } from 'typebox'
import { BackupName } from '../contract/backup-name.ts'
import { closed } from '../contract/closed.ts'
import { socketOperation } from '../contract/operation.ts'
import { Build, LoadedData, LoadedModule, Sha256, ShardName, SlotRange } from './shard-report.ts'

/** The database of a backup as it was: what a restore needs, without secrets. */
export const BackedUpDatabase = Type.Object({
  uid: Type.Integer(),
  name: Type.String(),
  build: Build,
  cluster: Type.Boolean(),
  clientsKnowShards: Type.Boolean(),
  replicas: Type.Integer(),
  memoryBytes: Type.Integer(),
  persistence: Type.Enum(['disabled', 'aof', 'snapshot']),
  aofFsync: Type.Enum(['everysec', 'always']),
  snapshots: Type.Array(Type.Object({ secs: Type.Integer(), writes: Type.Integer() })),
  evictionPolicy: Type.String(),
  tls: Type.Boolean(),
  /** Arguments are left out, because they may hold secrets. */
  modules: Type.Array(Type.Object({ name: Type.String(), semanticVersion: Type.String() })),
})
export type BackedUpDatabase = Static<typeof BackedUpDatabase>

/** The file of one group, and where in the history of its primary it was taken. */
const GroupFile = Type.Object({
  number: Type.Integer(),
  slots: SlotRange,
  /** The shard that sent it. */
  shard: ShardName,
  /** First bytes, which name the format: "REDIS0011", "VALKEY080". */
  format: Type.String(),
  bytes: Type.Integer(),
  sha256: Sha256,
  replid: Type.String(),
  offset: Type.Integer(),
  /** As counted by the engine that proved the file. */
  data: LoadedData,
})

/** A backup as its manifest and the agent's reports describe it. Times in Unix milliseconds. */
export const NodeBackup = Type.Object({
  /** Version of the manifest. */
  manifest: Type.Literal(1),
  name: BackupName,
  /** `failed`: there is no file; `why` has the reason, which is empty otherwise. */
  state: Type.Enum(['running', 'done', 'failed']),
  why: Type.String(),
  startedAt: Type.Integer(),
  /** When every file had been loaded by an engine and counted; null: not yet. */
  provedAt: Type.Union([Type.Integer(), Type.Null()]),
  /** Received so far. */
  bytes: Type.Integer(),
  database: BackedUpDatabase,
  /** Sorted by number; empty unless it is done. */
  groups: Type.Array(GroupFile),
})
export type NodeBackup = Static<typeof NodeBackup>

const BackupParams = Type.Object({ name: BackupName })

/** Server → agent. The work goes on after the answer: `reportBackups` shows it. */
export const startBackup = socketOperation({
  method: 'POST',
  path: '/agent/backups',
  summary:
    'Begin a backup of a database: the stream of a replica or primary of each group becomes a file, and an engine loads it as a proof. One at a time for each database',
  body: closed({
    /** A number is appended if the name is taken. */
    name: BackupName,
    database: BackedUpDatabase,
    /** All modules of its shards, with their arguments: they are not stored. */
    modules: Type.Array(LoadedModule),
    groups: Type.Array(
      closed({
        number: Type.Integer(),
        slots: SlotRange,
        primary: ShardName,
        /** Those with the primary's build: preferred as senders, if they have all that it has. */
        replicas: Type.Array(ShardName),
      }),
      { minItems: 1 },
    ),
  }),
  ok: NodeBackup,
  errors: ['db_busy', 'insufficient_resources', 'unavailable'],
})

/** Server → agent. The newest first. */
export const reportBackups = socketOperation({
  method: 'GET',
  path: '/agent/backups',
  summary:
    'Report the backups of the node, also those that are being made, and the last failure of each database',
  ok: Type.Array(NodeBackup),
})

/** Server → agent. Ends one that is being made. */
export const removeBackup = socketOperation({
  method: 'DELETE',
  path: '/agent/backups/:name',
  summary: 'Delete this backup, or the record of its failure. Of one that is not there: no error',
  params: BackupParams,
  ok: BackupParams,
})
