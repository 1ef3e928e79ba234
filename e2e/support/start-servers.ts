import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, fetchTransport, operations } from '@fairlead/api'
import type { TestPostgres } from '../../packages/server/test/postgres.ts'
import { creatingSmallest } from '../../proof/creating-smallest.ts'
import { ANSWER_WITHIN_MS, type Fairlead, startFairlead, startPart } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import type { FaultFiles } from './server-fault.ts'

/** One of several servers on one PostgreSQL, each with a home and a connection to PostgreSQL of its own. */
export interface Member {
  readonly name: string
  readonly server: Pick<Fairlead['server'], 'pid' | 'end' | 'start'>
  readonly api: Fairlead['api']
  url(): string
  readonly way: Way
  /** Its log. */
  readonly log: string
}

/** Servers that share an agent, a proxy and a PostgreSQL database. */
export interface Servers extends AsyncDisposable {
  /** The home of the agent and the proxy, and of the first server. */
  readonly fairlead: Fairlead
  readonly members: readonly Member[]
  /** The files that order a fault. */
  readonly order: string
  /** A query to PostgreSQL, not through the relay of any server. */
  ask(sql: string): Promise<readonly Record<string, unknown>[]>
  /** The server that holds a database now; undefined if its lease has expired. */
  holderOf(databaseUid: number): Promise<Member | undefined>
  untilAllHoldSome(): Promise<void>
}

const serverMain = join(import.meta.dirname, 'crash-main.ts')

/** Starts `count` servers; `env`: variables for all of them. */
export async function startServers(
  postgres: TestPostgres,
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Servers> {
  await using opened = new AsyncDisposableStack()
  const { host, database, user } = await postgres.makeDatabase()
  const orders = await mkdtemp(join(tmpdir(), 'fairlead-orders-'))
  opened.defer(() => rm(orders, { recursive: true, force: true }))
  const order = join(orders, 'fault')
  const ways = await Promise.all(Array.from({ length: count }, async () => opened.use(await startWay(host))))
  const key = randomBytes(32).toString('base64')
  const envOf = (way: Way) => ({
    ...env,
    FAIRLEAD_STORE: `postgres://${user}@localhost/${database}?host=${way.folder}`,
    FAIRLEAD_STORE_KEY: key,
    FAULT_FILES: JSON.stringify({ order, relayPid: way.pidFile } satisfies FaultFiles),
    FAULT_LOG: way.log,
  })
  const [firstWay, ...otherWays] = ways
  if (firstWay === undefined) throw new Error('at least one server is needed')
  const fairlead = opened.use(await startFairlead({ serverMain, env: envOf(firstWay) }))
  const { server, api } = fairlead
  const first = { name: 'server 1', server, api, way: firstWay, log: firstWay.log, url: () => fairlead.url }
  const others = await Promise.all(
    otherWays.map(async (way, n) => {
      const other = opened.use(await startOther(fairlead, way, envOf(way)))
      return { name: `server ${n + 2}`, ...other }
    }),
  )
  const members = [first, ...others]
  const ask = (sql: string) => postgres.run(sql, database)
  const owned = opened.move()
  return {
    fairlead,
    members,
    order,
    ask,
    async holderOf(uid) {
      const [row] = await ask(
        `select holder from buckets where bucket = ${uid % 256} and expires_at > extract(epoch from clock_timestamp()) * 1000`,
      )
      const pid = Number(String(row?.['holder']).split(':')[1])
      return members.find(({ server: { pid: one } }) => one === pid)
    },
    untilAllHoldSome: async () => {
      await until('all hold some', async () => {
        const rows = await ask('select distinct holder from buckets where expires_at > 0')
        return rows.length === count
      })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A server with a home of its own, which reaches the agent and the proxy of `fairlead`. */
async function startOther(
  { home: shared, environment, token }: Fairlead,
  way: Way,
  env: Readonly<Record<string, string>>,
): Promise<Omit<Member, 'name'> & AsyncDisposable> {
  await using opened = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'fairlead-other-'))
  opened.defer(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, 'run'), { mode: 0o700 })
  await symlink(join(shared, 'run', 'agent.sock'), join(home, 'run', 'agent.sock'))
  await symlink(join(shared, 'proxy'), join(home, 'proxy'))
  const own = {
    ...environment,
    ...env,
    FAIRLEAD_HOME: home,
    FAIRLEAD_HTTP_PORT: '0',
    FAIRLEAD_HTTPS_PORT: '0',
  }
  const server = opened.use(await startPart([serverMain], own))
  const transport = (request: Parameters<ReturnType<typeof fetchTransport>>[0]) =>
    fetchTransport(server.url(), ANSWER_WITHIN_MS)(request)
  const owned = opened.move()
  return {
    server,
    way,
    log: way.log,
    url: server.url,
    api: creatingSmallest(createClient(operations, transport, () => token)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The relay between one server and PostgreSQL. */
export interface Way extends AsyncDisposable {
  readonly folder: string
  /** The process that forwards everything. */
  readonly pidFile: string
  /** The file for the log of its server. */
  readonly log: string
  /** Nothing goes through any more, and nothing is reported. */
  stop(): void
  /** Data that have waited go through. */
  goOn(): void
  /** Connections are broken, and new ones go through. */
  restart(): Promise<void>
}

async function startWay(to: string): Promise<Way> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-way-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const name = '.s.PGSQL.5432'
  const program = join(import.meta.dirname, 'relay.ts')
  const relay = opened.use(await startPart([program, join(folder, name), join(to, name)], {}))
  const pidFile = join(folder, 'relay.pid')
  const note = () => writeFile(pidFile, String(relay.pid))
  await note()
  opened.defer(() => void process.kill(relay.pid, 'SIGCONT'))
  const owned = opened.move()
  return {
    folder,
    pidFile,
    log: join(folder, 'server.log'),
    stop: () => void process.kill(relay.pid, 'SIGSTOP'),
    goOn: () => void process.kill(relay.pid, 'SIGCONT'),
    async restart() {
      await relay.end('SIGKILL')
      await relay.start()
      await note()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
