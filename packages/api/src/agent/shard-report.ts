import { type Static, Type } from 'typebox'
import { DiskReport } from './disk-report.ts'
import { ShardLimits } from './put-limits.ts'
import { ShardCertificate } from './put-shard-certificate.ts'

/** An engine build by its make and its version. */
export const Build = Type.Object({
  flavour: Type.String(),
  /** Full version, "8.1.1". */
  version: Type.String(),
})
export type Build = Static<typeof Build>

/** Where a process listens: a name or IP address, and a TCP port. */
export const Address = Type.Object({ host: Type.String(), port: Type.Integer() })
export type Address = Static<typeof Address>

/** Of a module's file. */
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

/** A module that an engine process loads at its start. Its file is on the node before: see putModule. */
export const LoadedModule = Type.Object({
  sha256: Sha256,
  /** As MODULE LIST says it. */
  name: Type.String(),
  args: Type.Array(Type.String()),
})
export type LoadedModule = Static<typeof LoadedModule>

/** The parameters that decide how much memory a value takes once an engine has loaded it. */
export const ENCODINGS = [
  ...(['hash-max-ziplist-entries', 'hash-max-ziplist-value', 'list-max-ziplist-size'] as const),
  ...(['list-compress-depth', 'set-max-intset-entries', 'set-max-listpack-entries'] as const),
  ...(['set-max-listpack-value', 'zset-max-ziplist-entries', 'zset-max-ziplist-value'] as const),
] as const

/** A primary. `tlsPort`: where it speaks TLS with its replicas; absent: nowhere. */
const Followed = Type.Object({ ...Address.properties, tlsPort: Type.Optional(Type.Integer()) })

/**
 * Sizes up to which an engine keeps a value in its compact form, by the names that all builds know. Integers, because a
 * server that was taken over must not be able to set anything else.
 */
export const Encodings = Type.Object(
  Object.fromEntries(ENCODINGS.map((name) => [name, Type.Optional(Type.Integer())])) as Record<
    (typeof ENCODINGS)[number],
    ReturnType<typeof Type.Optional<ReturnType<typeof Type.Integer>>>
  >,
  { additionalProperties: false },
)
export type Encodings = Static<typeof Encodings>

/** Everything the agent needs to start a shard's process. */
export const ShardSpec = Type.Object(
  {
    build: Build,
    /** Digest of what needs a new process to change. Another one than the running process has: it is restarted. */
    revision: Type.String(),
    host: Type.String(),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** Follow this primary from the first moment on; null: start with the data on disk, as a primary. */
    replicaOf: Type.Union([Followed, Type.Null()]),
    /** The engine's cluster mode. There `replicaOf` is kept by the engine itself, once the server has told it. */
    cluster: Type.Boolean(),
    /**
     * It speaks TLS with other shards, with certificates on both sides: in replication, and in cluster mode on the bus. With which certificate, and on
     * which port replicas find it. Null: all that is plain.
     */
    tls: Type.Union([
      Type.Object({ port: Type.Integer({ minimum: 1, maximum: 65_535 }), certificate: ShardCertificate }),
      Type.Null(),
    ]),
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
    /** Limits of compact forms, set before the process loads any data. Absent: as in the spec before. */
    encodings: Type.Optional(Encodings),
    /** If a module file is missing or has another hash, the process is not started: the shard is `failed`. */
    modules: Type.Array(LoadedModule),
    /** Of the administrative user `fairlead`. */
    adminPassword: Type.String(),
    /** Of the database's user `default`, which has no administrative commands. */
    userPassword: Type.String(),
  },
  { additionalProperties: false },
)
export type ShardSpec = Static<typeof ShardSpec>

/**
 * `starting`: the process runs but has not answered yet. `running`: it answers. `stopping`: it is being
 * ended, for a stop or a restart. `exited`: it died, and waits for its back-off or for the server
 * (`onCrash`). `failed`: it cannot be started (no build, port taken, bad data, …); `why` has the engine's own
 * words.
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
  /** The present process replaced one that had died: data that the dead one had not saved is lost. */
  beganAfterDeath: Type.Boolean(),
  why: Type.String(),
  /** `failed`, because another process has its port: on another one it may start. */
  portTaken: Type.Boolean(),
  /** Several of its processes in a row have died before they answered: how the last one ended. It is still tried again. Null otherwise. */
  failsToStart: Type.Union([Type.String(), Type.Null()]),
  /** SHA-256 of the certificate (its PEM) with which its last process proves itself to the others; null: it has none. */
  certificate: Type.Union([Type.String(), Type.Null()]),
  /** It ended, and only a put starts it again (`onCrash` wait). */
  asleep: Type.Boolean(),
  /**
   * As in the wanted shard: the next process starts with these. The present one may have been set to others
   * since.
   */
  ...ShardLimits.properties,
  /**
   * The engine's last words, since its process started, about replication or persistence gone wrong. They stay when
   * it has recovered. Empty when there are none, and while there is no process.
   */
  trouble: Type.String(),
  /** They say that it cannot read the data of a full sync, and would say so again at each attempt. */
  cannotRead: Type.Boolean(),
  /** True: since it last served a full sync, it could twice not write its data in the format of a follower. */
  cannotSend: Type.Optional(Type.Boolean()),
  /** The last line in the log of its process, as far as it has been read, while there is one. */
  lastLogLine: Type.Optional(Type.String()),
  /** Null before the first look. It is looked at every few seconds, and several times a second while the server asks, or something changes. */
  disk: Type.Union([DiskReport, Type.Null()]),
  /** While its process does not answer; null otherwise. */
  silence: Type.Union([
    Type.Object({
      forMs: Type.Integer(),
      /** `works`: it uses the processor. `disk`: it waits for its disk. `stopped`: by a signal or a debugger. */
      doing: Type.Enum(['works', 'disk', 'stopped', 'idle']),
      /** It has done nothing for too long, and the agent will not end it by itself: see endShardProcess. */
      hung: Type.Boolean(),
      /** It is told to people: an engine may be slow at times. */
      isLong: Type.Boolean(),
      why: Type.String(),
      /** Its disk holds data of its persistence: they do not all end with it. */
      onDisk: Type.Boolean(),
    }),
    Type.Null(),
  ]),
})
export type ShardReport = Static<typeof ShardReport>
