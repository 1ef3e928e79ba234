import { once } from 'node:events'
import { createServer } from 'node:http'
import { SLOTS } from './hash-slot.ts'
import { startTestEngine, type TestEngine, until } from './test-engine.ts'

/** A primary and its replica, of a real cluster. */
export interface TestGroup {
  readonly slots: string
  /** The two change places with `handOver`. */
  primary: TestEngine
  replica: TestEngine
}

/** A real cluster of three groups, and the API's answer about it. */
export interface TestCluster extends AsyncDisposable {
  readonly groups: readonly TestGroup[]
  /** The database's address in the stand-in for the API, which names the primaries as `groups` do. */
  readonly url: string
  /** The status of the API's answers; 200 unless set. */
  status: number
  /** CLUSTER FAILOVER of a group, and then (unless `silently`) the API learns of it. */
  handOver(group: TestGroup, options?: { readonly silently?: boolean }): Promise<void>
}

const GROUPS = 3
const FAILOVER_ENDS_MS = 5_500
const settings = [
  '--cluster-enabled',
  'yes',
  '--cluster-node-timeout',
  '1000',
  '--cluster-allow-replica-migration',
  'no',
]

/**
 * A stream shows that it is alive by its pings: one a second is enough; one in ten seconds, the default, is
 * too slow.
 */
const streaming = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1']

/**
 * Primaries run `old`, replicas `young`. Resolves when every node sees a whole cluster and every stream
 * flows.
 */
export async function startTestCluster(old: string, young: string): Promise<TestCluster> {
  await using opened = new AsyncDisposableStack()
  const start = async (program: string) =>
    opened.use(await startTestEngine(program, ...settings, ...streaming))
  const groups: TestGroup[] = []
  for (let n = 0; n < GROUPS; n += 1) {
    const [first, last] = [Math.ceil((n * SLOTS) / GROUPS), Math.ceil(((n + 1) * SLOTS) / GROUPS) - 1]
    const group = { slots: `${first}-${last}`, primary: await start(old), replica: await start(young) }
    await group.primary.call('CLUSTER', 'ADDSLOTSRANGE', `${first}`, `${last}`)
    groups.push(group)
  }
  await join(groups)
  const server = opened.use(await startShardsServer(groups))
  const owned = opened.move()
  return Object.assign(server, {
    groups,
    handOver,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  })
}

async function handOver(group: TestGroup, { silently = false } = {}): Promise<void> {
  const { primary: old, replica: successor } = group
  await streamFlows(group)
  await failOver(successor)
  if (!silently) Object.assign(group, { primary: successor, replica: old })
  await until(async () => (await old.call('INFO', 'replication')).includes('master_link_status:up'))
}

/**
 * Voters may refuse a second failover of the same group within two node timeouts: then that failover ends
 * after 5 s, without effect.
 */
async function failOver(successor: TestEngine): Promise<void> {
  let askedMs = Number.NEGATIVE_INFINITY
  const became = async () => {
    if ((await roleOf(successor)) === 'master') return true
    if (performance.now() - askedMs < FAILOVER_ENDS_MS) return false
    await successor.call('CLUSTER', 'FAILOVER')
    askedMs = performance.now()
    return false
  }
  await until(became, { withinMs: 3 * FAILOVER_ENDS_MS })
}

async function roleOf(engine: TestEngine): Promise<string> {
  return /role:(\w+)/.exec(await engine.call('INFO', 'replication'))?.[1] ?? ''
}

/** "Online" comes up to a second before the stream flows: only the offset shows that it flows. */
async function streamFlows({ primary, replica }: TestGroup): Promise<void> {
  const offset = await primary.offset()
  await until(async () => (await replica.offset()) > offset)
}

async function join(groups: readonly TestGroup[]): Promise<void> {
  const engines = groups.flatMap(({ primary, replica }) => [primary, replica])
  const [first] = engines
  for (const { address } of engines.slice(1))
    await first?.call('CLUSTER', 'MEET', address.host, `${address.port}`)
  for (const { primary, replica } of groups) {
    const id = await primary.call('CLUSTER', 'MYID')
    await until(async () => (await replica.call('CLUSTER', 'NODES')).includes(id))
    await replica.call('CLUSTER', 'REPLICATE', id)
  }
  for (const engine of engines) await until(async () => isWhole(await engine.call('CLUSTER', 'INFO')))
  for (const group of groups) await streamFlows(group)
}

function isWhole(info: string): boolean {
  return (
    info.includes('cluster_state:ok') &&
    info.includes(`cluster_slots_ok:${SLOTS}`) &&
    info.includes(`cluster_known_nodes:${2 * GROUPS}`)
  )
}

/** Stands in for the API: `GET <url>/shards` names the shards as `groups` says that they are. */
async function startShardsServer(groups: readonly TestGroup[]) {
  const server = createServer((request, response) => {
    const known = request.url === '/v1/bdbs/1/shards' && request.headers.authorization === 'Bearer good'
    response.statusCode = known ? naming.status : 401
    const shard = (role: string, { address }: TestEngine, slots: string) => ({
      uid: String(address.port),
      role,
      assigned_slots: slots,
      port: address.port,
    })
    const shards = groups.flatMap(({ slots, primary, replica }) => [
      shard('slave', replica, slots),
      shard('master', primary, slots),
    ])
    response.end(JSON.stringify(shards))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const naming = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1/bdbs/1`,
    status: 200,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return naming
}
