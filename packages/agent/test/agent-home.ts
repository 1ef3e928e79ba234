import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  agentOperations,
  type Client,
  createClient,
  type FoundBuild,
  type ShardReport,
  type ShardSpec,
  type Transport,
} from '@fairlead/api'
import { connectEngine, type EngineConnection } from '@fairlead/engine'
import pino, { type Logger } from 'pino'
import { until as untilSo } from '../../../proof/until.ts'
import { type Agent, type AgentConfig, createAgent } from '../src/agent.ts'
import { openShards } from '../src/folder/open-shards.ts'
import { findFreePort } from '../src/process/find-free-port.ts'
import { signalProcess } from '../src/process/process-identity.ts'
import { anyEngine, builds } from './engines.ts'

/**
 * Test files run side by side; a shard keeps its port also while it does not run, so each worker has ports of
 * its own.
 */
const FIRST_PORT = 12_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 8) * 500
const LAST_PORT = FIRST_PORT + 499
let nextPort = FIRST_PORT

/** A home of its own for one test. Disposing of it ends every engine process that was started there. */
export interface TestHome extends AsyncDisposable {
  readonly path: string
  readonly socketPath: string
  readonly client: Client<typeof agentOperations>
  /** Everything that was logged, as text. */
  readonly logged: () => string
  readonly logger: Logger
  start(config?: Partial<AgentConfig>): Promise<Agent>
  shard(id: string): Promise<ShardReport | undefined>
  /** Waits until the report of the shard is as wanted. */
  becomes(id: string, wanted: Partial<ShardReport>, withinMs?: number): Promise<ShardReport>
}

export async function makeHome(): Promise<TestHome> {
  const path = await mkdtemp(join(tmpdir(), 'agent-'))
  const socketPath = join(path, 'run', 'agent.sock')
  const client = createClient(agentOperations, socketTransport(socketPath))
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const shard = async (id: string) => (await client.reportNode({})).shards.find((each) => each.id === id)
  return {
    path,
    socketPath,
    client,
    logger,
    logged: () => lines.join(''),
    start: (config) =>
      createAgent({
        home: path,
        socketPath,
        nodeUid: 1,
        host: '127.0.0.1',
        memoryLimitBytes: null,
        builds,
        fetchPlace: { folder: join(path, 'engines'), env: { PATH: process.env['PATH'] } },
        proxyProgram: null,
        logger,
        ...config,
      }),
    shard,
    async becomes(id, wanted, withinMs = 60_000) {
      let seen: ShardReport | undefined
      const fits = async (): Promise<boolean> => {
        seen = await shard(id)
        return Object.entries(wanted).every(([name, value]) => seen?.[name as keyof ShardReport] === value)
      }
      await until(fits, { withinMs, what: () => JSON.stringify({ wanted, seen }) })
      if (!seen) throw new Error('unreachable')
      return seen
    },
    async [Symbol.asyncDispose]() {
      for (const { last } of await openShards(path, logger))
        if (last?.identity && !last.ended) signalProcess(last.identity, 'SIGKILL')
      await rm(path, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/**
 * A port of this worker that is free, and was not handed out lately. The kernel chooses no such port, so it
 * is still free when its process is started again. `alsoFree`: the ports at these distances are free, too.
 */
export async function ownPort(alsoFree: readonly number[] = []): Promise<number> {
  const find = (from: number) => findFreePort('127.0.0.1', { from, to: LAST_PORT, except: [], alsoFree })
  const port = (await find(nextPort)) ?? (await find(FIRST_PORT))
  if (port === null) throw new Error('no port is free for tests')
  nextPort = port + 1
  return port
}

/** A spec that any engine can fulfil, on a free port of its own. */
export async function makeSpec(
  wanted: Partial<ShardSpec> = {},
  engine: FoundBuild = anyEngine(),
): Promise<ShardSpec> {
  const port = await ownPort(wanted.cluster ? [10_000] : [])
  return {
    build: { flavour: engine.flavour, version: engine.version },
    cluster: false,
    tls: null,
    rdbVersionCheck: 'strict',
    revision: 'first',
    host: '127.0.0.1',
    port,
    replicaOf: null,
    onCrash: 'restart',
    memoryBytes: 0,
    evictionPolicy: 'noeviction',
    persistence: 'disabled',
    aofFsync: 'everysec',
    snapshots: [],
    backlogBytes: 1024 * 1024,
    modules: [],
    adminPassword: `admin-secret-${port}`,
    userPassword: `user-secret-${port}`,
    ...wanted,
  }
}

export function connectAs(user: 'fairlead' | 'default', spec: ShardSpec): Promise<EngineConnection> {
  const password = user === 'default' ? spec.userPassword : spec.adminPassword
  // A busy machine may take seconds, so the time limit is long.
  const bounds = { connectTimeoutMs: 20_000, commandTimeoutMs: 20_000 }
  return connectEngine({ address: spec, login: { username: user, password }, ...bounds })
}

/** `until` of proof for a condition, looked at every 5 ms. */
export async function until(
  check: () => boolean | Promise<boolean>,
  { withinMs = 60_000, what = () => '' }: { readonly withinMs?: number; readonly what?: () => string } = {},
): Promise<void> {
  await untilSo(what, check, { withinMs, everyMs: 5 })
}

/** HTTP over a Unix socket, a connection for each request. */
export function socketTransport(socketPath: string): Transport {
  return ({ method, path, headers, body }) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const sent = request({ socketPath, method, path, headers, agent: false, timeout: 10_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    if (typeof body === 'object') Readable.from(body).on('error', reject).pipe(sent)
    else sent.end(body)
    return promise
  }
}
