import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { readInteger, readRange } from './core/read-integer.ts'
import { parseStoreKey } from './core/store-key.ts'

/** Where Fairlead keeps its things, and how it is reached. Read once, at the start. */
export interface Config {
  readonly home: string
  /** 0: any free port. */
  readonly httpPort: number
  /** Where the proxy answers as a Sentinel; 0: nowhere. */
  readonly sentinelPort: number
  /** Threads of the proxy that serve endpoints. Undefined: by the machine's cores. */
  readonly proxyWorkers: number | undefined
  readonly adminUsername: string
  /** Undefined: generated at the first start. */
  readonly adminPassword: string | undefined
  /** Whether the cluster creates itself at the first start, or waits to be created through the API. */
  readonly bootstrap: 'automatic' | 'manual'
  /** What secrets in the store are sealed with. Undefined: a file in `home`, made at the first start. */
  readonly storeKey: Uint8Array | undefined
  readonly keyRotationDays: number
  readonly hungAfterSeconds: number
  readonly engines: string
  readonly portRange: { readonly from: number; readonly to: number }
  /** Undefined: all of the machine's. */
  readonly nodeMemoryBytes: number | undefined
  readonly logLevel: LogLevel
}

const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

/** Everything wrong with the environment, one line a fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    )
    this.faults = faults
  }
}

/** One variable: what it is, what it is when it is not set, and how its text is read. `fault` ends the reading. */
interface Variable<T> {
  readonly name: `FAIRLEAD_${string}`
  readonly about: string
  readonly otherwise: string
  readonly read: (text: string | undefined, fault: (sentence: string) => never) => T
}

const variables = {
  home: variable({
    name: 'FAIRLEAD_HOME',
    about:
      'Folder of everything Fairlead keeps: the store, the databases’ data, its secrets. Readable by its owner only: one that is open to others is closed. Started as root, Fairlead becomes the user to whom it belongs; else one of another user is refused.',
    otherwise: '`.fairlead` in the current folder',
    read: (text, fault) => readHome(text, fault),
  }),
  httpPort: variable({
    name: 'FAIRLEAD_HTTP_PORT',
    about: 'Port of the HTTP API, on 127.0.0.1 only. `0` takes any free port.',
    otherwise: '`8080`',
    read: (text, fault) => readInteger(text, 8080, { from: 0, to: 65_535 }, fault),
  }),
  sentinelPort: variable({
    name: 'FAIRLEAD_SENTINEL_PORT',
    about:
      'Port on which clients that connect to shards themselves are told of the primary, as by a Sentinel; on 127.0.0.1 only. `0` for none. Taken by another, it is tried again.',
    otherwise: '`8001`',
    read: (text, fault) => readInteger(text, 8001, { from: 0, to: 65_535 }, fault),
  }),
  proxyWorkers: variable({
    name: 'FAIRLEAD_PROXY_WORKERS',
    about:
      'Threads of the proxy, among which the clients of every endpoint are divided. `1` is best where shards need the cores. Counts when the proxy is next started: `fairlead down --all`.',
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
      return /^[^\s&<>":]{1,256}$/.test(text)
        ? text
        : fault('must be 1 to 256 characters without spaces, & < > : or quotes')
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
      '`automatic`: at the first start the cluster creates itself, with the first user above. `manual`: it waits for `POST /v1/bootstrap/create_cluster`, which whoever comes first may send.',
    otherwise: '`automatic`',
    read: (text, fault) =>
      (['automatic', 'manual'] as const).find((mode) => mode === (text ?? 'automatic')) ??
      fault('must be automatic or manual'),
  }),
  storeKey: variable({
    name: 'FAIRLEAD_STORE_KEY',
    about:
      'What private keys (of tokens and of TLS), passwords of databases and arguments of modules are sealed with in the store: 32 bytes in base64. Whoever has the store but not this has none of them.',
    otherwise: '`store.key` in FAIRLEAD_HOME, made at the first start',
    read: (text, fault) => {
      if (text === undefined) return undefined
      return parseStoreKey(text) ?? fault('must be 32 bytes in base64, as from `openssl rand -base64 32`')
    },
  }),
  keyRotationDays: variable({
    name: 'FAIRLEAD_KEY_ROTATION_DAYS',
    about: 'Days after which the announced key signs tokens in place of the one before it.',
    otherwise: '`90`',
    read: (text, fault) => readInteger(text, 90, { from: 1, to: 3_650 }, fault),
  }),
  hungAfterSeconds: variable({
    name: 'FAIRLEAD_HUNG_AFTER_SECONDS',
    about:
      'How long the only copy of data, or a primary, may answer nobody and do nothing before something is done about it: see docs/busy-and-hung.md. One that works, or waits for its disk, may take as long as it takes. At most 120: the pause of a takeover lasts for 150 s.',
    otherwise: '`120`',
    read: (text, fault) => readInteger(text, 120, { from: 1, to: 120 }, fault),
  }),
  engines: variable({
    name: 'FAIRLEAD_ENGINES',
    about:
      'Folder of unpacked engine builds (`<flavour>-<version>/bin/<flavour>-server`), searched besides PATH; `fairlead engines fetch` puts them here.',
    otherwise: '`engines` in FAIRLEAD_HOME',
    read: (text) => (text === undefined ? undefined : resolve(text)),
  }),
  portRange: variable({
    name: 'FAIRLEAD_PORT_RANGE',
    about:
      'Ports for shards and endpoints, first to last. An upgrade needs one more for each group of the database until it ends.',
    otherwise: '`10000-10999`',
    read: (text, fault) => readRange(text, fault),
  }),
  nodeMemoryBytes: variable({
    name: 'FAIRLEAD_NODE_MEMORY_MB',
    about:
      'Memory of this machine that shards may use, in MB. Where a surge shard does not fit, a replica is upgraded in place.',
    otherwise: 'all of it',
    read: (text, fault) =>
      text === undefined
        ? undefined
        : readInteger(text, 0, { from: 1, to: 1_000_000_000 }, fault) * 1024 * 1024,
  }),
  logLevel: variable({
    name: 'FAIRLEAD_LOG_LEVEL',
    about: `What is logged: ${logLevels.join(', ')}.`,
    otherwise: '`warn`',
    read: (text, fault) =>
      logLevels.find((level) => level === (text ?? 'warn')) ??
      fault(`must be one of ${logLevels.join(', ')}`),
  }),
}

/**
 * Reads the configuration from `env`. An empty variable counts as not set. Throws one ConfigError with every fault,
 * unknown FAIRLEAD_ variables among them: a misspelt one must not be ignored.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = []
  const read = <T>({ name, read: readText }: Variable<T>): T | undefined => {
    try {
      return readText(env[name] || undefined, (sentence) => {
        throw new Fault(sentence)
      })
    } catch (cause) {
      if (!(cause instanceof Fault)) throw cause
      faults.push(
        `${name} ${cause.message}${/PASSWORD$|STORE_KEY$/.test(name) ? '' : ` (it is ${JSON.stringify(env[name])})`}`,
      )
      return undefined
    }
  }
  const values = {
    home: read(variables.home),
    httpPort: read(variables.httpPort),
    sentinelPort: read(variables.sentinelPort),
    proxyWorkers: read(variables.proxyWorkers),
    adminUsername: read(variables.adminUsername),
    adminPassword: read(variables.adminPassword),
    bootstrap: read(variables.bootstrap),
    storeKey: read(variables.storeKey),
    keyRotationDays: read(variables.keyRotationDays),
    hungAfterSeconds: read(variables.hungAfterSeconds),
    engines: read(variables.engines),
    portRange: read(variables.portRange),
    nodeMemoryBytes: read(variables.nodeMemoryBytes),
    logLevel: read(variables.logLevel),
  }
  faults.push(...unknownVariables(env))
  const {
    home,
    httpPort,
    sentinelPort,
    adminUsername,
    bootstrap,
    keyRotationDays,
    hungAfterSeconds,
    portRange,
    logLevel,
  } = values
  if (
    home === undefined ||
    httpPort === undefined ||
    sentinelPort === undefined ||
    adminUsername === undefined ||
    bootstrap === undefined ||
    keyRotationDays === undefined ||
    hungAfterSeconds === undefined ||
    portRange === undefined ||
    logLevel === undefined ||
    faults.length > 0
  ) {
    throw new ConfigError(faults)
  }
  return Object.freeze({
    home,
    httpPort,
    sentinelPort,
    proxyWorkers: values.proxyWorkers,
    adminUsername,
    adminPassword: values.adminPassword,
    bootstrap,
    storeKey: values.storeKey,
    keyRotationDays,
    hungAfterSeconds,
    engines: values.engines ?? join(home, 'engines'),
    portRange,
    nodeMemoryBytes: values.nodeMemoryBytes,
    logLevel,
  })
}

/** The agent's socket. Unix sockets have short names: 107 bytes on Linux. */
export function agentSocket(home: string): string {
  return join(home, 'run', 'agent.sock')
}

/** The proxy's socket: see its program. */
export function proxySocket(home: string): string {
  return join(home, 'proxy', 'proxy.sock')
}

/** The server's socket for whoever has the machine. */
export function operatorSocket(home: string): string {
  return join(home, 'run', 'server.sock')
}

/** docs/configuration.md, from the same table. */
export function printConfigurationDocs(): string {
  const rows = Object.values(variables).map(
    ({ name, about, otherwise }) => `| \`${name}\` | ${about} | ${otherwise} |`,
  )
  return [
    '# Configuration\n',
    'Fairlead is configured by its environment. A wrong value stops it with every fault listed, and exit code 2.',
    'Printed from `packages/server/src/config.ts` by `npm run docs`.',
    '',
    '| variable | meaning | when not set |\n|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

class Fault extends Error {}

function variable<T>(spec: Variable<T>): Variable<T> {
  return spec
}

function readHome(text: string | undefined, fault: (sentence: string) => never): string {
  const home = text?.startsWith('~/') ? join(homedir(), text.slice(2)) : resolve(text ?? '.fairlead')
  if (!isAbsolute(home)) return fault('must be a path')
  const socket = operatorSocket(home) // the longest of them
  if (Buffer.byteLength(socket) > 107)
    return fault(`is too long: ${socket} must have at most 107 bytes, as the name of a Unix socket`)
  return home
}

function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known: readonly string[] = Object.values(variables).map(({ name }) => name)
  return Object.keys(env)
    .filter((name) => name.startsWith('FAIRLEAD_') && !known.includes(name))
    .map((name) => `${name} is not a variable of Fairlead; there are ${known.join(', ')}`)
}
