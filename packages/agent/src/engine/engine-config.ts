import { createHash } from 'node:crypto'
import type { Build, ShardSpec } from '@fairlead/api'
import { compareVersions, databaseUserRights } from '@fairlead/engine'
import type { ShardFolder } from '../folder/shard-folder.ts'
import type { EngineTarget } from './ask-engine.ts'

/** The bus of cluster mode is this far above the port of a shard: no engine asks for another distance by itself. */
export const BUS_DISTANCE = 10_000

/** The administrative user of every engine process. */
export const ADMIN_USER = 'fairlead'

/**
 * The text of engine.conf. `appendonly` is decided apart (decide-appendonly.ts). It holds the admin password, by which
 * a replica logs in to its primary: the file is the owner's only, and the process list shows its path, not its text.
 */
export function engineConfig(
  spec: ShardSpec,
  paths: Pick<ShardFolder, 'data' | 'acl' | 'modulePath' | 'certificate'>,
  appendonly: boolean,
): string {
  const lines: readonly (readonly (string | number)[])[] = [
    ['bind', spec.host],
    ['port', spec.port],
    ['daemonize', 'no'],
    ['dir', paths.data],
    ['dbfilename', 'dump.rdb'],
    ['aclfile', paths.acl],
    ['masteruser', ADMIN_USER],
    ['masterauth', spec.adminPassword],
    ['repl-diskless-sync', 'yes'],
    ['repl-diskless-sync-delay', 0],
    ['repl-diskless-load', 'on-empty-db'],
    // 0 leaves the engine's own default: no engine takes an empty backlog.
    ...(spec.backlogBytes > 0 ? [['repl-backlog-size', spec.backlogBytes]] : []),
    ['repl-backlog-ttl', 0],
    ['maxmemory', spec.memoryBytes],
    ['maxmemory-policy', spec.evictionPolicy],
    ['appendonly', appendonly ? 'yes' : 'no'],
    ['appendfsync', spec.aofFsync],
    // The empty one first: without it the engine's default save points would stay in force.
    ['save', ''],
    ...(spec.persistence === 'snapshot' ? spec.snapshots : []).map(({ secs, writes }) => [
      'save',
      secs,
      writes,
    ]),
    ...encodingLines(spec),
    // Before any data is read: it may be of their types.
    ...spec.modules.map(({ sha256, args }) => ['loadmodule', paths.modulePath(sha256), ...args]),
    ...(spec.cluster ? clusterLines : replicaLines(spec)),
    ...(spec.cluster && canOutliveDisk(spec.build) ? [['cluster-config-save-behavior', 'best-effort']] : []),
    ...tlsLines(spec, paths),
    ...(spec.rdbVersionCheck === 'relaxed' && canRelax(spec.build) ? [['rdb-version-check', 'relaxed']] : []),
  ]
  return lines.map(([name, ...values]) => `${name} ${values.map(quote).join(' ')}\n`).join('')
}

/** Limits that the build knows. Set later, they would not concern what a full sync or a file has brought. */
function encodingLines({ build, encodings = {} }: ShardSpec): readonly (readonly (string | number)[])[] {
  return Object.entries(encodings).filter(
    ([name]) => !name.startsWith('set-max-listpack-') || packsSets(build),
  )
}

/** Redis before 7.2 keeps small sets of texts in no compact form. */
function packsSets({ flavour, version }: Build): boolean {
  return flavour !== 'redis' || compareVersions(version, '7.2') >= 0
}

/** Engines refuse this line in cluster mode: there the server sends a command, and the engine keeps the primary in nodes.conf. */
function replicaLines(spec: ShardSpec): readonly (readonly (string | number)[])[] {
  const { replicaOf } = spec
  if (replicaOf === null) return []
  const port = followsOverTls(spec) ? replicaOf.tlsPort : undefined
  return [['replicaof', replicaOf.host, port ?? replicaOf.port]]
}

/** A primary without TLS is followed without it. For a shard that follows no primary, this prepares for the next one. */
function followsOverTls({ tls, cluster, replicaOf }: ShardSpec): boolean {
  return tls !== null && (cluster || replicaOf === null || replicaOf.tlsPort !== undefined)
}

/**
 * The server decides which shard is promoted, and which primary a shard follows: engines do not vote and move
 * no replica.
 */
const clusterLines = [
  ['cluster-enabled', 'yes'],
  ['cluster-config-file', 'nodes.conf'],
  ['cluster-node-timeout', 5_000],
  ['cluster-replica-no-failover', 'yes'],
  ['cluster-migration-barrier', 999],
  // A group that is down does not stop the others.
  ['cluster-require-full-coverage', 'no'],
] as const

/**
 * In cluster mode an engine that cannot write its nodes.conf (the disk is full) ends itself, and its data in memory with it: all shards of a database
 * at the same moment, when a role moves. Only valkey since 9.1 can be told to go on. It tries each time as before.
 */
function canOutliveDisk({ flavour, version }: Build): boolean {
  return flavour === 'valkey' && compareVersions(version, '9.1') >= 0
}

/**
 * Bus and replication accept only processes with a certificate of the database's authority. The port for clients stays plain, and the bus keeps
 * its port: by default, engines derive it from the TLS port. Redis before 7.0 does not know `cluster-port`, even where it has no bus.
 */
function tlsLines(
  spec: ShardSpec,
  { certificate }: Pick<ShardFolder, 'certificate'>,
): readonly (readonly (string | number)[])[] {
  const { port, tls, cluster } = spec
  if (tls === null) return []
  return [
    ['tls-port', tls.port],
    ...(cluster
      ? [
          ['cluster-port', port + BUS_DISTANCE],
          ['tls-cluster', 'yes'],
        ]
      : []),
    ['tls-replication', followsOverTls(spec) ? 'yes' : 'no'],
    ['tls-auth-clients', 'yes'],
    ['tls-protocols', 'TLSv1.3'],
    ...certificateSettings(certificate),
  ]
}

/** The settings that say where the certificate lies. An engine that is told them reads the files, also when the names are the same. */
export function certificateSettings({
  ca,
  cert,
  key,
}: ShardFolder['certificate']): readonly (readonly [string, string])[] {
  return [
    ['tls-cert-file', cert],
    ['tls-key-file', key],
    ['tls-ca-cert-file', ca],
  ]
}

/** Valkey 8.1 knows the setting too, but cannot read data of other flavours: there `relaxed` allows only data of later valkeys. */
function canRelax({ flavour, version }: Build): boolean {
  return flavour === 'valkey' && compareVersions(version, '9.0') >= 0
}

/** The text of users.acl. Passwords stand there as digests; the user `default` has what databaseUserRights says. */
export function userList(spec: ShardSpec): string {
  const channels = knowsChannels(spec.build) ? ' &*' : ''
  const rights = databaseUserRights(spec.build, spec.cluster).join(' ')
  return [
    `user ${ADMIN_USER} on #${digest(spec.adminPassword)} ~*${channels} +@all`,
    `user default on #${digest(spec.userPassword)} ~*${channels} ${rights}`,
    '',
  ].join('\n')
}

/** What a process with this spec listens on: in cluster mode also the bus, where the engines expect it. */
export function portsOf({
  port,
  cluster,
  tls,
}: Pick<ShardSpec, 'port' | 'cluster' | 'tls'>): readonly number[] {
  return [port, ...(cluster ? [port + BUS_DISTANCE] : []), ...(tls === null ? [] : [tls.port])]
}

/** The address and the login with which the agent connects to a process that was started with this spec. */
export function engineTarget({ host, port, adminPassword }: ShardSpec): EngineTarget {
  return { address: { host, port }, login: { username: ADMIN_USER, password: adminPassword } }
}

function knowsChannels({ flavour, version }: Build): boolean {
  return flavour !== 'redis' || compareVersions(version, '6.2') >= 0
}

/** As the engines read a value: in double quotes, with what could end it or the line written as \xHH. */
function quote(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const escaped = value.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    /["\\\u0000-\u001f\u007f]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return `"${escaped}"`
}

function digest(password: string): string {
  return createHash('sha256').update(password).digest('hex')
}
