import { isAbsolute, resolve } from 'node:path'
import { parseStoreKey } from '../core/identity/store-key.ts'
import { nameFault } from '../core/identity/user.ts'
import { readPostgresAddress } from '../core/state/read-postgres-address.ts'
import {
  readAddress,
  readFurtherAddresses,
  readHostNames,
  readHosts,
  readPlainAddress,
  readSuffix,
} from './config-hosts.ts'
import { homeOf, operatorSocket } from './sockets.ts'

const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

/** One variable: its description, its default, and the function that reads it. `fault` aborts the reading. */
export interface Variable<T> {
  readonly name: `FAIRLEAD_${string}`
  readonly about: string
  readonly otherwise: string
  readonly read: (text: string | undefined, fault: (sentence: string) => never) => T
}

/** All environment variables; docs/reference/configuration.md is printed from them. */
export const variables = {
  home: variable({
    name: 'FAIRLEAD_HOME',
    about:
      'Folder with everything: the store, the databases’ data, secrets. Only its owner can read it: if it is open to others, Fairlead closes it. Started as root, Fairlead becomes the user that owns the folder. Started as another user, it refuses a folder that this user does not own.',
    otherwise: '`.fairlead` in the current folder',
    read: (text, fault) => readHome(text, fault),
  }),
  httpPort: variable({
    name: 'FAIRLEAD_HTTP_PORT',
    about: 'Port of the API over plain HTTP, for programs of this machine. `0` takes any free port.',
    otherwise: '`8080`',
    read: (text, fault) => readInteger(text, 8080, { from: 0, to: 65_535 }, fault),
  }),
  httpAddress: variable({
    name: 'FAIRLEAD_HTTP_ADDRESS',
    about:
      'Address of the API over plain HTTP: one of loopback (`127.…` or `::1`). Others are refused: passwords and tokens would travel in plain text. Other machines use HTTPS.',
    otherwise: '`127.0.0.1`',
    read: (text, fault) => readPlainAddress(text, fault),
  }),
  httpsPort: variable({
    name: 'FAIRLEAD_HTTPS_PORT',
    about: 'Port of the API over HTTPS: see docs/operate/https.md. `0`: there is no HTTPS.',
    otherwise: '`9443`',
    read: (text, fault) => readInteger(text, 9443, { from: 0, to: 65_535 }, fault),
  }),
  httpsAddress: variable({
    name: 'FAIRLEAD_HTTPS_ADDRESS',
    about:
      'Address at which the API is served over HTTPS: one of this machine, `0.0.0.0` for all of IPv4, or `::` for all.',
    otherwise: '`127.0.0.1`',
    read: (text, fault) => readAddress(text, fault),
  }),
  httpsNames: variable({
    name: 'FAIRLEAD_HTTPS_NAMES',
    about:
      'Names and addresses, separated by commas, by which clients call the API over HTTPS. The certificate proves them, and requests may be sent to them, in addition to `localhost`, `127.0.0.1`, `::1`, the name of this machine and FAIRLEAD_HTTPS_ADDRESS. An operator’s own certificate is not changed.',
    otherwise: 'none',
    read: (text, fault) => readHosts(text, fault),
  }),
  hostNames: variable({
    name: 'FAIRLEAD_HOST_NAMES',
    about:
      'Names, separated by commas, that requests may have as `Host` in addition to `localhost` and addresses: for example the name of a proxy in front of the API. Any other name is refused, because a web page could let its own name point to this machine.',
    otherwise: 'none',
    read: (text, fault) => readHostNames(text, fault),
  }),
  endpointAddresses: variable({
    name: 'FAIRLEAD_ENDPOINT_ADDRESS',
    about:
      'Addresses of this machine, separated by commas, at which the endpoints of databases listen besides 127.0.0.1: see docs/operate/other-machines.md. `0.0.0.0` is all of IPv4, `::` all. Clients of other machines need TLS: create databases with `--tls`. All servers of a cluster need the same value.',
    otherwise: 'none: clients of this machine only',
    read: (text, fault) => readFurtherAddresses(text, fault),
  }),
  endpointSuffix: variable({
    name: 'FAIRLEAD_ENDPOINT_SUFFIX',
    about:
      'Name below which each endpoint has a name of its own: `db.example.net` names them `redis-PORT.db.example.net`. Your DNS has to answer `*.db.example.net` with the addresses above, or with 127.0.0.1 if there are none: see docs/operate/other-machines.md. The certificate of endpoints proves all these names.',
    otherwise: 'none: endpoints have addresses only',
    read: (text, fault) => readSuffix(text, fault),
  }),
  sentinelPort: variable({
    name: 'FAIRLEAD_SENTINEL_PORT',
    about:
      'Port on which clients that connect to shards directly can ask for the primary, as from a Sentinel; on 127.0.0.1 only; usually 8001. It requires no login, and shows every local process the names of all databases and the ports of their shards. `0`: there is none. If another process has the port, Fairlead tries again.',
    otherwise: '`0`',
    read: (text, fault) => readInteger(text, 0, { from: 0, to: 65_535 }, fault),
  }),
  mostConnections: variable({
    name: 'FAIRLEAD_API_CONNECTIONS',
    about:
      'Connections that the API may have at a time. At the limit, a new connection replaces the oldest one for which there is nothing to do: see docs/reference/limits.md.',
    otherwise: 'half of the files that the process may have (`ulimit -n`) less 300, at most 4,096',
    read: (text, fault) =>
      text === undefined ? undefined : readInteger(text, 0, { from: 16, to: 100_000 }, fault),
  }),
  proxyWorkers: variable({
    name: 'FAIRLEAD_PROXY_WORKERS',
    about:
      'Threads of the proxy, among which the clients of every endpoint are divided. `1` is best if shards need the cores. A change takes effect at the next start of the proxy: after `fairlead down --all`.',
    otherwise: 'one for each four cores, at least 1 and at most 4',
    read: (text, fault) =>
      text === undefined ? undefined : readInteger(text, 0, { from: 1, to: 64 }, fault),
  }),
  adminUsername: variable({
    name: 'FAIRLEAD_ADMIN_USERNAME',
    about: 'Name of the first user. Used at the first start only.',
    otherwise: '`admin`',
    read: (text, fault) => {
      if (text === undefined) return 'admin'
      if (!/^[^\s&<>":]{1,256}$/.test(text))
        return fault('must be 1 to 256 characters without spaces, & < > : or quotes')
      const wrong = nameFault(text)
      return wrong === undefined ? text : fault(wrong)
    },
  }),
  adminPassword: variable({
    name: 'FAIRLEAD_ADMIN_PASSWORD',
    about: 'Password of the first user. Used at the first start only.',
    otherwise: 'generated, and printed once',
    read: (text, fault) => {
      if (text === undefined) return undefined
      return text.length >= 8 && text.length <= 256 ? text : fault('must have 8 to 256 characters')
    },
  }),
  bootstrap: variable({
    name: 'FAIRLEAD_BOOTSTRAP',
    about:
      '`automatic`: at the first start the cluster creates itself, with the first user above. `manual`: it waits for `POST /v1/bootstrap/create_cluster` with the secret below.',
    otherwise: '`automatic`',
    read: (text, fault) =>
      (['automatic', 'manual'] as const).find((mode) => mode === (text ?? 'automatic')) ??
      fault('must be automatic or manual'),
  }),
  bootstrapSecret: variable({
    name: 'FAIRLEAD_BOOTSTRAP_SECRET',
    about:
      'The `bootstrap_secret` that the request to create the cluster must send, if FAIRLEAD_BOOTSTRAP is `manual`. It creates one cluster only.',
    otherwise: 'generated, and printed at each start until the cluster is created',
    read: (text, fault) => {
      if (text === undefined) return undefined
      return text.length >= 16 && text.length <= 256 ? text : fault('must have 16 to 256 characters')
    },
  }),
  storeKey: variable({
    name: 'FAIRLEAD_STORE_KEY',
    about:
      'The key that seals secrets in the store: private keys (of tokens and of TLS), passwords of databases and arguments of modules. 32 bytes in base64. Without this key the store reveals none of them.',
    otherwise: '`store.key` in FAIRLEAD_HOME, made at the first start',
    read: (text, fault) => {
      if (text === undefined) return undefined
      return parseStoreKey(text) ?? fault('must be 32 bytes in base64, as from `openssl rand -base64 32`')
    },
  }),
  store: variable({
    name: 'FAIRLEAD_STORE',
    about:
      'A PostgreSQL database (15 or newer) that keeps the state instead of the embedded store: `postgres://user@host:5432/database`. Connections to other machines use TLS with a certificate that is checked: `?sslrootcert=FILE` names the authority, unless the system knows it. `?host=/FOLDER` is a Unix socket. See docs/operate/postgresql.md.',
    otherwise: 'embedded: `store.db` in FAIRLEAD_HOME',
    read: (text, fault) => (text === undefined ? undefined : readPostgresAddress(text, fault)),
  }),
  storePasswordFile: variable({
    name: 'FAIRLEAD_STORE_PASSWORD_FILE',
    about:
      'File with the password for FAIRLEAD_STORE. It is read for each new connection: write a new one into it when you change the password.',
    otherwise: 'no password is sent to PostgreSQL',
    read: (text) => (text === undefined ? null : resolve(text)),
  }),
  keyRotationDays: variable({
    name: 'FAIRLEAD_KEY_ROTATION_DAYS',
    about: 'Days after which the announced key replaces the one that signs tokens.',
    otherwise: '`90`',
    read: (text, fault) => readInteger(text, 90, { from: 1, to: 3_650 }, fault),
  }),
  sessionHours: variable({
    name: 'FAIRLEAD_SESSION_HOURS',
    about:
      'How long tokens may be renewed (`POST /v1/users/refresh_jwt`) after a login with a password. No token, and no session of a browser, lives longer than that.',
    otherwise: '`168`',
    read: (text, fault) => readInteger(text, 168, { from: 1, to: 87_600 }, fault),
  }),
  auditDays: variable({
    name: 'FAIRLEAD_AUDIT_DAYS',
    about:
      'Days that records of the audit are kept; older ones are removed. If there are more than 200,000 records, the oldest are removed earlier.',
    otherwise: '`90`',
    read: (text, fault) => readInteger(text, 90, { from: 1, to: 3_650 }, fault),
  }),
  hungAfterSeconds: variable({
    name: 'FAIRLEAD_HUNG_AFTER_SECONDS',
    about:
      'How long the only copy of data, or a primary, may be silent and idle before Fairlead acts: see docs/explain/busy-and-hung.md. A process that works, or waits for its disk, is not ended. At most 120: the pause of a takeover lasts for 150 s.',
    otherwise: '`120`',
    read: (text, fault) => readInteger(text, 120, { from: 1, to: 120 }, fault),
  }),
  engines: variable({
    name: 'FAIRLEAD_ENGINES',
    about:
      'Folder of unpacked engine builds (`<flavour>-<version>/bin/<flavour>-server`), searched in addition to PATH; `fairlead engines fetch` and the console put them here.',
    otherwise: '`engines` in FAIRLEAD_HOME',
    read: (text) => (text === undefined ? undefined : resolve(text)),
  }),
  engineWall: variable({
    name: 'FAIRLEAD_ENGINE_WALL',
    about:
      '`on`: engines, with their modules, are started within a wall if this machine allows one: see docs/security.md. `off`: without a wall. Running processes are not changed.',
    otherwise: '`on`',
    read: (text = 'on', fault) =>
      text === 'on' || text === 'off' ? text === 'on' : fault('must be on or off'),
  }),
  serverWall: variable({
    name: 'FAIRLEAD_SERVER_WALL',
    about:
      '`on`: if Fairlead is started as root on a FAIRLEAD_HOME of root, and engines have walls, the server is a separate user: see docs/security.md. `off`: the server is root; this is the only way to make it root again. Its files move to `server/own` in FAIRLEAD_HOME, and back.',
    otherwise: '`on`',
    read: (text = 'on', fault) =>
      text === 'on' || text === 'off' ? text === 'on' : fault('must be on or off'),
  }),
  shardTls: variable({
    name: 'FAIRLEAD_SHARD_TLS',
    about:
      '`on`: the shards of databases that are created from now on talk to each other over TLS, with certificates on both sides. So do the new shards when an older database that is not sharded is upgraded. `off`: no TLS, for builds that do not have it, or a machine without other users: see docs/security.md.',
    otherwise: '`on`',
    read: (text = 'on', fault) =>
      text === 'on' || text === 'off' ? text === 'on' : fault('must be on or off'),
  }),
  portRange: variable({
    name: 'FAIRLEAD_PORT_RANGE',
    about:
      'Ports for shards and endpoints, first to last. Until it ends, an upgrade needs one more port for each group of the database; with TLS between shards, two more.',
    otherwise: '`10000-10999`',
    read: (text, fault) => readRange(text, fault),
  }),
  askedPorts: variable({
    name: 'FAIRLEAD_ASKED_PORTS',
    about:
      'Ports that a request may ask for (`port` of a new database), first to last. Others are refused: they may belong to other services.',
    otherwise: '`10000-19999`',
    read: (text, fault) => readRange(text ?? '10000-19999', fault),
  }),
  nodeMemoryBytes: variable({
    name: 'FAIRLEAD_NODE_MEMORY_MB',
    about:
      'Memory of this machine that shards may use, in MB. A new database is refused if the `memory_size` of all primaries and replicas together would be more. If a surge shard does not fit, a replica is upgraded in place.',
    otherwise: 'all of it',
    read: (text, fault) =>
      text === undefined
        ? undefined
        : readInteger(text, 0, { from: 1, to: 1_000_000_000 }, fault) * 1024 * 1024,
  }),
  metricsDatabases: variable({
    name: 'FAIRLEAD_METRICS_DATABASES',
    about:
      'Databases with their own series at `/metrics`, with their shards: those with the lowest uids. `0`: none. See docs/reference/metrics.md.',
    otherwise: '`1000`',
    read: (text, fault) => readInteger(text, 1_000, { from: 0, to: 10_000 }, fault),
  }),
  logLevel: variable({
    name: 'FAIRLEAD_LOG_LEVEL',
    about: `Log level: ${logLevels.join(', ')}.`,
    otherwise: '`warn`',
    read: (text, fault) =>
      logLevels.find((level) => level === (text ?? 'warn')) ??
      fault(`must be one of ${logLevels.join(', ')}`),
  }),
}

function variable<T>(spec: Variable<T>): Variable<T> {
  return spec
}

function readHome(text: string | undefined, fault: (sentence: string) => never): string {
  const home = homeOf(text)
  if (!isAbsolute(home)) return fault('must be a path')
  const socket = operatorSocket(home) // the longest socket path
  if (Buffer.byteLength(socket) > 107)
    return fault(`is too long: ${socket} must have at most 107 bytes, as the name of a Unix socket`)
  return home
}

/** The values of all variables. */
export type Values = {
  readonly [Name in keyof typeof variables]: (typeof variables)[Name] extends Variable<infer Value>
    ? Value
    : never
}

/** Reads a variable as an integer; `otherwise` if it is not set. `fault` ends the reading. */
function readInteger(
  text: string | undefined,
  otherwise: number,
  { from, to }: { readonly from: number; readonly to: number },
  fault: (sentence: string) => never,
): number {
  if (text === undefined) return otherwise
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= from && value <= to ? value : fault(`must be a whole number from ${from} to ${to}`)
}

/** Reads two ports, as in 10000-10999 (the default). `fault` ends the reading. */
function readRange(
  text: string | undefined,
  fault: (sentence: string) => never,
): { readonly from: number; readonly to: number } {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text ?? '10000-10999')
  const from = Number(match?.[1])
  const to = Number(match?.[2])
  const sound = match !== null && from >= 1024 && from <= to && to <= 65_535
  return sound ? { from, to } : fault('must be two ports from 1024 to 65535, as in 10000-10999')
}
