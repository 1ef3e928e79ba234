import type { Build, ShardPasswords, ShardSaving, ShardSpec } from '@fairlead/api'
import { compareVersions, databaseUserRights, passwordDigest } from '@fairlead/engine'
import type { ShardFolder } from '../folder/shard-folder.ts'
import type { EngineTarget } from './ask-engine.ts'

/** Distance of the cluster bus's port from a shard's port, as the engines choose it by default. */
export const BUS_DISTANCE = 10_000

/** The administrative user of every engine process. */
export const ADMIN_USER = 'fairlead'

/**
 * Returns the text of engine.conf; decide-appendonly.ts decides `appendonly`. It has the admin password, with
 * which a replica logs in to its primary: only the owner can read the file, and the process list shows only
 * its path.
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
    // 0 leaves the engine's default: no engine accepts an empty backlog.
    ...(spec.backlogBytes > 0 ? [['repl-backlog-size', spec.backlogBytes]] : []),
    ['repl-backlog-ttl', 0],
    ['maxmemory', spec.memoryBytes],
    ['maxmemory-policy', spec.evictionPolicy],
    ['appendonly', appendonly ? 'yes' : 'no'],
    ['appendfsync', spec.aofFsync],
    // First an empty one: otherwise the engine's default save points would remain.
    ['save', ''],
    ...pointsOf(spec).map(({ secs, writes }) => ['save', secs, writes]),
    ...encodingLines(spec),
    // Before any data is read, because it may have their types.
    ...spec.modules.map(({ sha256, args }) => ['loadmodule', paths.modulePath(sha256), ...args]),
    ...(spec.cluster ? clusterLines : replicaLines(spec)),
    ...(spec.cluster && canOutliveDisk(spec.build) ? [['cluster-config-save-behavior', 'best-effort']] : []),
    ...tlsLines(spec, paths),
    ...(spec.rdbVersionCheck === 'relaxed' && canRelax(spec.build) ? [['rdb-version-check', 'relaxed']] : []),
  ]
  return lines.map(([name, ...values]) => `${name} ${values.map(quote).join(' ')}\n`).join('')
}

function pointsOf({ persistence, snapshots }: ShardSaving): ShardSaving['snapshots'] {
  return persistence === 'snapshot' ? snapshots : []
}

/** Returns the value of `save` for a running process. */
export function savePoints(saving: ShardSaving): string {
  return pointsOf(saving)
    .map(({ secs, writes }) => `${secs} ${writes}`)
    .join(' ')
}

/** Returns limits that the build knows. Set later, they would not affect data of a full sync or a file. */
function encodingLines({ build, encodings = {} }: ShardSpec): readonly (readonly (string | number)[])[] {
  return Object.entries(encodings).filter(
    ([name]) => !name.startsWith('set-max-listpack-') || packsSets(build),
  )
}

/** Redis before 7.2 has no compact form for small sets of texts. */
function packsSets({ flavour, version }: Build): boolean {
  return flavour !== 'redis' || compareVersions(version, '7.2') >= 0
}

/** Engines refuse this line in cluster mode, where the server sends a command, kept in nodes.conf. */
function replicaLines(spec: ShardSpec): readonly (readonly (string | number)[])[] {
  const { replicaOf } = spec
  if (replicaOf === null) return []
  const port = followsOverTls(spec) ? replicaOf.tlsPort : undefined
  return [['replicaof', replicaOf.host, port ?? replicaOf.port]]
}

/** A primary without TLS is followed without it. A shard without a primary is prepared for the next one. */
function followsOverTls({ tls, cluster, replicaOf }: ShardSpec): boolean {
  return tls !== null && (cluster || replicaOf === null || replicaOf.tlsPort !== undefined)
}

/** The server decides about promotions and primaries: engines do not vote, and move no replica. */
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
 * In cluster mode an engine that cannot write its nodes.conf (the disk is full) exits and loses its data in
 * memory: all shards of a database at the same moment, when a role moves. Only Valkey since 9.1 can be
 * configured to continue; it retries each time.
 */
function canOutliveDisk({ flavour, version }: Build): boolean {
  return flavour === 'valkey' && compareVersions(version, '9.1') >= 0
}

/**
 * Bus and replication accept only processes with a certificate of the database's authority; the port for
 * clients stays plain. The bus keeps its port, which engines by default derive from the TLS port. Redis
 * before 7.0 does not know `cluster-port`, even without a bus.
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

/** Returns the settings with the certificate's paths. Setting the same again makes an engine read. */
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

/** Valkey 8.1 has it, too, but cannot read other flavours: it only allows data of later Valkey versions. */
function canRelax({ flavour, version }: Build): boolean {
  return flavour === 'valkey' && compareVersions(version, '9.0') >= 0
}

/** Returns the digests of all valid passwords of the database's user. */
export function validDigests({ userPassword, formerPasswords = [] }: ShardPasswords): readonly string[] {
  return [passwordDigest(userPassword), ...formerPasswords]
}

/** Returns the text of users.acl. Passwords are digests; `default` has the rights of databaseUserRights. */
export function userList(spec: ShardSpec): string {
  const channels = knowsChannels(spec.build) ? ' &*' : ''
  const rights = databaseUserRights(spec.build, spec.cluster).join(' ')
  const { defaultUser: isOn, users } = spec.users ?? { defaultUser: true, users: [] }
  const valid = validDigests(spec)
    .map((digest) => `#${digest}`)
    .join(' ')
  return [
    `user ${ADMIN_USER} on #${passwordDigest(spec.adminPassword)} ~*${channels} +@all`,
    `user default ${isOn ? 'on' : 'off'} ${valid} ~*${channels} ${rights}`,
    ...users.map(({ name, words }) => `user ${name} ${words.join(' ')}`),
    '',
  ].join('\n')
}

/** Returns the listening ports of a process with this spec: in cluster mode also the bus's default port. */
export function portsOf({
  port,
  cluster,
  tls,
}: Pick<ShardSpec, 'port' | 'cluster' | 'tls'>): readonly number[] {
  return [port, ...(cluster ? [port + BUS_DISTANCE] : []), ...(tls === null ? [] : [tls.port])]
}

/** Returns the agent's address and login for a process with this spec. */
export function engineTarget({ host, port, adminPassword }: ShardSpec): EngineTarget {
  return { address: { host, port }, login: { username: ADMIN_USER, password: adminPassword } }
}

function knowsChannels({ flavour, version }: Build): boolean {
  return flavour !== 'redis' || compareVersions(version, '6.2') >= 0
}

/** Quotes a value for the engines: in double quotes; characters that would end it or the line become \xHH. */
function quote(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const escaped = value.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    /["\\\u0000-\u001f\u007f]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return `"${escaped}"`
}
