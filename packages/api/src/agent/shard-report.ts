import { type Static, Type } from 'typebox'
import { BackupName } from '../contract/backup-name.ts'
import { closed } from '../contract/closed.ts'

/** Name of a shard on its node. */
export const ShardName = Type.String({ pattern: '^[a-z0-9-]{1,40}$' })

/** A shard in a path of the agent. */
export const ShardId = Type.Object({ id: ShardName })

/** An engine build by flavour and version. */
export const Build = Type.Object({
  flavour: Type.String(),
  /** Full version, "8.1.1". */
  version: Type.String(),
})
export type Build = Static<typeof Build>

/** A name or IP address, and a TCP port. */
export const Address = Type.Object({ host: Type.String(), port: Type.Integer() })
export type Address = Static<typeof Address>

/** Hash of a module's file. */
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

/** A module that an engine process loads at its start, from a file on the node: see putModule. */
export const LoadedModule = Type.Object({
  sha256: Sha256,
  /** Name in MODULE LIST. */
  name: Type.String(),
  args: Type.Array(Type.String()),
})
export type LoadedModule = Static<typeof LoadedModule>

/** Hash slots, both ends included. */
export const SlotRange = Type.Object({ first: Type.Integer(), last: Type.Integer() })

/** The data of a snapshot, as an engine counted them that had just loaded it. */
export const LoadedData = Type.Object({
  /** Keys in the file, with those that had expired; null: the engine does not say (redis before 7). */
  keysInFile: Type.Union([Type.Integer(), Type.Null()]),
  /** Not empty databases by number; `expires`: keys that will expire; `volatile`: those with such fields. */
  databases: Type.Array(
    Type.Object({
      number: Type.Integer(),
      keys: Type.Integer(),
      expires: Type.Integer(),
      volatile: Type.Optional(Type.Integer()),
    }),
  ),
  /** Libraries of functions. */
  functions: Type.Integer(),
  /** Memory of the engine with these data. */
  memoryBytes: Type.Integer(),
})
export type LoadedData = Static<typeof LoadedData>

/** The file of a backup that a shard begins with. */
export const Seed = closed({
  backup: BackupName,
  group: Type.Integer(),
  sha256: Sha256,
  slots: SlotRange,
  data: LoadedData,
})
export type Seed = Static<typeof Seed>

/** Parameters that determine the memory of a value in an engine. */
export const ENCODINGS = [
  ...(['hash-max-ziplist-entries', 'hash-max-ziplist-value', 'list-max-ziplist-size'] as const),
  ...(['list-compress-depth', 'set-max-intset-entries', 'set-max-listpack-entries'] as const),
  ...(['set-max-listpack-value', 'zset-max-ziplist-entries', 'zset-max-ziplist-value'] as const),
] as const

/** A primary. `tlsPort`: its port for replicas with TLS; absent: none. */
const Followed = Type.Object({ ...Address.properties, tlsPort: Type.Optional(Type.Integer()) })

/**
 * Maximum sizes of values in compact form, by names that all builds know. Integers only, so that a
 * compromised server cannot set anything else.
 */
export const Encodings = closed(
  Object.fromEntries(ENCODINGS.map((name) => [name, Type.Optional(Type.Integer())])) as Record<
    (typeof ENCODINGS)[number],
    ReturnType<typeof Type.Optional<ReturnType<typeof Type.Integer>>>
  >,
)
export type Encodings = Static<typeof Encodings>

/** Limits at the start of an engine process. */
export const ShardLimits = closed({
  /** `maxmemory`; 0 is unlimited. */
  memoryBytes: Type.Integer({ minimum: 0 }),
  evictionPolicy: Type.String(),
})

/** What a shard keeps of its data on its disk, and when. */
export const ShardSaving = closed({
  persistence: Type.Enum(['disabled', 'aof', 'snapshot']),
  aofFsync: Type.Enum(['everysec', 'always']),
  snapshots: Type.Array(Type.Object({ secs: Type.Integer(), writes: Type.Integer() })),
})
export type ShardSaving = Static<typeof ShardSaving>

/** What is in force. `changing`: the process is led to another way, or back. */
export const ReportedSaving = Type.Object({
  ...ShardSaving.properties,
  changing: Type.Optional(Type.Literal(true)),
})
export type ReportedSaving = Static<typeof ReportedSaving>

/** Users that Fairlead makes on the engines of a database, besides its administrative one. */
export const ShardUsers = closed({
  /** True if the database's own user `default` may sign in. */
  defaultUser: Type.Boolean(),
  users: Type.Array(
    closed({
      name: Type.String({ pattern: '^[^\\s\\x00-\\x1f\\x7f]+$' }),
      /** Words of ACL SETUSER after `reset`: digests of passwords, and rules. */
      words: Type.Array(Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]+$' })),
    }),
  ),
})
export type ShardUsers = Static<typeof ShardUsers>

/** Certificate of a database's shards for each other, and the trusted authority: PEM. */
export const ShardCertificate = closed({
  /** The authority of the database, which signed `cert`; the only trusted one. */
  ca: Type.String(),
  cert: Type.String(),
  key: Type.String(),
})

/** Passwords of the database's user `default`, which has no administrative commands. */
export const ShardPasswords = closed({
  userPassword: Type.String(),
  /** SHA-256 digests (hex) of others that are still valid. */
  formerPasswords: Type.Optional(Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), { maxItems: 16 })),
})
export type ShardPasswords = Static<typeof ShardPasswords>

/** Everything to start a shard's process. */
export const ShardSpec = closed({
  build: Build,
  /** Digest of everything that needs a new process. If it differs, the process is restarted. */
  revision: Type.String(),
  host: Type.String(),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  /** Follow this primary from the start; null: start as a primary with the data on disk. */
  replicaOf: Type.Union([Followed, Type.Null()]),
  /** Cluster mode. There the engine itself keeps `replicaOf`, once the server has set it. */
  cluster: Type.Boolean(),
  /**
   * TLS to other shards, with certificates on both sides: for replication, and for the bus in cluster mode;
   * `port` is for replicas. Null: without TLS.
   */
  tls: Type.Union([
    Type.Object({ port: Type.Integer({ minimum: 1, maximum: 65_535 }), certificate: ShardCertificate }),
    Type.Null(),
  ]),
  /** `relaxed`: also read data of other flavours, if the build can (valkey 9 and later). */
  rdbVersionCheck: Type.Enum(['strict', 'relaxed']),
  /**
   * Reaction to the process's death. `restart`: start it again with back-off. `wait`: report it and wait
   * for the server, because a primary that returns empty would empty its replicas, which may have newer
   * data.
   */
  onCrash: Type.Enum(['restart', 'wait']),
  ...ShardLimits.properties,
  ...ShardSaving.properties,
  backlogBytes: Type.Integer({ minimum: 0 }),
  /** Limits of compact forms, set before the process loads data. Absent: as in the previous spec. */
  encodings: Type.Optional(Encodings),
  /**
   * The data of the shard's first process, which runs only if it has loaded all of them. Ignored by later
   * processes. Absent: it begins empty.
   */
  seed: Type.Optional(Seed),
  /** If a module file is missing or has another hash, the shard is `failed` without a start. */
  modules: Type.Array(LoadedModule),
  /** Password of the administrative user `fairlead`. */
  adminPassword: Type.String(),
  ...ShardPasswords.properties,
  /** Absent: `default` alone, which may sign in. */
  users: Type.Optional(ShardUsers),
})
export type ShardSpec = Static<typeof ShardSpec>

/** The content of a shard's data folder. */
export const DiskReport = Type.Object({
  /** Unix milliseconds, like `at`. */
  lookedAt: Type.Integer(),
  /** dump.rdb: when it was written, with history and offset (null: it had no replica then). */
  snapshot: Type.Union([
    Type.Object({
      at: Type.Integer(),
      replid: Type.Union([Type.String(), Type.Null()]),
      offset: Type.Union([Type.Integer(), Type.Null()]),
    }),
    Type.Null(),
  ]),
  /** `whole`: the append-only file has every write of the last process. `older`: of an earlier one. */
  aof: Type.Enum(['none', 'older', 'whole']),
  /** In cluster mode, the epoch of the slots that the last process served; null: none. */
  claim: Type.Union([Type.Integer(), Type.Null()]),
})
export type DiskReport = Static<typeof DiskReport>

/**
 * A shard's process:
 * - `starting`: not answered yet.
 * - `running`: answers.
 * - `stopping`: being ended, for a stop or a restart.
 * - `exited`: died, and waits for its back-off or for the server (`onCrash`).
 * - `failed`: cannot be started (no build, port taken, bad data, …); `why` has the engine's own words.
 */
export const ShardReport = Type.Object({
  id: Type.String(),
  state: Type.Enum(['starting', 'running', 'stopping', 'exited', 'failed']),
  revision: Type.String(),
  build: Build,
  host: Type.String(),
  port: Type.Integer(),
  pid: Type.Union([Type.Integer(), Type.Null()]),
  /** Unix milliseconds; null without a process. */
  startedAt: Type.Union([Type.Integer(), Type.Null()]),
  /** Deaths without an order since it was put. */
  crashes: Type.Integer(),
  /** The last process was stopped on order after saving everything: the disk has all data. */
  endedInOrder: Type.Boolean(),
  /** This process replaced a dead one, whose unsaved data is lost. */
  beganAfterDeath: Type.Boolean(),
  why: Type.String(),
  /** `failed`, because another process has its port: it may start on another one. */
  portTaken: Type.Boolean(),
  /** The last end, if several processes in a row died before they answered; retried. Null otherwise. */
  failsToStart: Type.Union([Type.String(), Type.Null()]),
  /** SHA-256 of its last process's certificate (PEM) for other shards; null: none. */
  certificate: Type.Union([Type.String(), Type.Null()]),
  /** It ended, and only a put starts it again (`onCrash` wait). */
  asleep: Type.Boolean(),
  /** For the next process, like in the wanted shard. The running one may have other limits. */
  ...ShardLimits.properties,
  /** Mark (passwordsMark) of the passwords of `default` in its process. Absent from older agents. */
  passwords: Type.Optional(Type.String()),
  /** In force in its process, or for its next one; `changing`: to another. Absent from older agents. */
  saving: Type.Optional(ReportedSaving),
  /** Mark of the users of its process (usersMark). Absent: an older agent, which knows of none. */
  users: Type.Optional(Type.String()),
  /**
   * The engine's last messages about failed replication or persistence. They stay after a recovery. Empty if
   * none, and without a process.
   */
  trouble: Type.String(),
  /** They show that it cannot read a full sync's data, so every attempt will fail. */
  cannotRead: Type.Boolean(),
  /** Since its last served full sync, it failed twice to write a follower's format. */
  cannotSend: Type.Optional(Type.Boolean()),
  /** The last line that was read of its process's log. */
  lastLogLine: Type.Optional(Type.String()),
  /** Null before the first look. Updated every few seconds; several times a second on requests or changes. */
  disk: Type.Union([DiskReport, Type.Null()]),
  /** Set while its process does not answer. */
  silence: Type.Union([
    Type.Object({
      forMs: Type.Integer(),
      /** `works`: uses the CPU. `disk`: waits for its disk. `stopped`: by a signal or a debugger. */
      doing: Type.Enum(['works', 'disk', 'stopped', 'idle']),
      /** Idle for too long, and the agent will not end it automatically: see endShardProcess. */
      hung: Type.Boolean(),
      /** Reported to people: short silences are normal. */
      isLong: Type.Boolean(),
      why: Type.String(),
      /** The disk has its data: not all is lost with the process. */
      onDisk: Type.Boolean(),
    }),
    Type.Null(),
  ]),
})
export type ShardReport = Static<typeof ShardReport>
