import type { EndpointShard, EndpointSpec } from '@fairlead/api'
import type { Endpoint } from '../src/endpoint/endpoint.ts'
import { openShardedEndpoint } from '../src/sharded/sharded-endpoint.ts'
import {
  dial,
  type Engine,
  freePort,
  makeEndpointSpec,
  newest,
  type RawClient,
  startEngine,
  until,
} from './stage.ts'

export interface Cluster extends AsyncDisposable {
  readonly primaries: readonly Engine[]
  /** One for each group; empty unless asked for. */
  readonly replicas: readonly Engine[]
  readonly endpoint: Endpoint
  readonly port: number
  readonly shards: readonly EndpointShard[]
  /**
   * Moves the role of one group to its other engine, as the server does: hold, pause, equal, take over,
   * switch.
   */
  handOver(group: number): Promise<void>
  /** The same without the endpoint. Answers the port of the new primary. */
  moveRole(group: number): Promise<number>
}

const MEET_AGAIN_MS = 8_000
const FIRST_SLOTS = [0, 5_461, 10_923, 16_384]

/** Three primaries in cluster mode, a replica for each if wanted, and an endpoint in front of them. */
export async function makeCluster(
  options: { readonly build?: string; readonly withReplicas?: boolean } = {},
): Promise<Cluster> {
  const { build = newest, withReplicas = false } = options
  await using stack = new AsyncDisposableStack()
  const engines: { readonly engine: Engine; readonly bus: number }[] = []
  for (let n = 0; n < (withReplicas ? 6 : 3); n += 1) {
    const bus = await freePort()
    const engine = stack.use(
      await startEngine(
        build,
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        String(bus),
        '--cluster-node-timeout',
        '5000',
      ),
    )
    engines.push({ engine, bus })
  }
  const [first] = engines
  if (first === undefined) throw new Error('no engines')
  // Nodes that begin with the same epoch give themselves others later: an epoch that rises during a takeover
  // may exceed that of the new primary.
  for (const [n, { engine }] of engines.entries()) await engine.admin(`CLUSTER SET-CONFIG-EPOCH ${n + 1}`)
  const meet = async () => {
    for (const { engine, bus } of engines)
      await first.engine.admin(`CLUSTER MEET 127.0.0.1 ${engine.port} ${bus}`)
  }
  const primaries = engines.slice(0, 3).map(({ engine }) => engine)
  const replicas = engines.slice(3).map(({ engine }) => engine)
  const shards: EndpointShard[] = []
  for (const [n, engine] of primaries.entries()) {
    const range = { first: FIRST_SLOTS[n] ?? 0, last: (FIRST_SLOTS[n + 1] ?? 0) - 1 }
    await engine.admin(`CLUSTER ADDSLOTSRANGE ${range.first} ${range.last}`)
    shards.push({ ...range, upstream: { host: '127.0.0.1', port: engine.port } })
  }
  const knowsAll = async (engine: Engine) =>
    (await engine.admin('CLUSTER NODES')).split('\n').filter((line) => / connected/.test(line)).length ===
    engines.length
  let metMs = Number.NEGATIVE_INFINITY
  const agree = async () => {
    // An engine forgets a greeting that is not answered within its node timeout, and does not repeat it.
    if (performance.now() - metMs > MEET_AGAIN_MS) {
      await meet()
      metMs = performance.now()
    }
    for (const { engine } of engines)
      if (!(await knowsAll(engine)) || !(await engine.admin('CLUSTER INFO')).includes('cluster_state:ok'))
        return false
    return true
  }
  await until(agree, () => 'the cluster does not form')
  for (const [n, replica] of replicas.entries()) {
    const id = /[0-9a-f]{40}/.exec((await primaries[n]?.admin('CLUSTER MYID')) ?? '')?.[0]
    await replica.admin(`CLUSTER REPLICATE ${id}`)
  }
  for (const replica of replicas)
    await until(
      async () => (await replica.admin('INFO replication')).includes('master_link_status:up'),
      undefined,
    )

  const endpoint = stack.use(await openShardedEndpoint(await makeShardedSpec(shards, replicas)))
  const roles = primaries.map((primary, n) => ({ primary, successor: replicas[n] ?? primary }))
  const moveRole = async (group: number): Promise<number> => {
    const pair = roles[group]
    if (pair === undefined) throw new Error('no such group')
    const { primary, successor } = pair
    await until(
      async () => (await successor.admin('INFO replication')).includes('master_link_status:up'),
      undefined,
    )
    const offset = async (engine: Engine) =>
      /master_repl_offset:(\d+)/.exec(await engine.admin('INFO replication'))?.[1]
    await primary.admin('CLIENT PAUSE 60000 WRITE')
    await until(async () => (await offset(primary)) === (await offset(successor)))
    await successor.admin('CLUSTER FAILOVER TAKEOVER')
    await until(async () => (await primary.admin('ROLE')).includes('slave'))
    await primary.admin('CLIENT UNPAUSE')
    roles[group] = { primary: successor, successor: primary }
    return successor.port
  }
  const owned = stack.move()
  return {
    primaries,
    replicas,
    endpoint,
    port: endpoint.wanted.port,
    shards,
    moveRole,
    async handOver(group) {
      const slot = FIRST_SLOTS[group] ?? 0
      const held = await endpoint.hold({ deadlineMs: 60_000, slot })
      if (!held.drained) throw new Error(held.why)
      const port = await moveRole(group)
      await endpoint.switchTo({ host: '127.0.0.1', port }, slot)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export async function makeShardedSpec(
  shards: readonly EndpointShard[],
  replicas: readonly Engine[] = [],
): Promise<EndpointSpec> {
  const others = replicas.map(({ port }) => ({ host: '127.0.0.1', port }))
  return {
    ...makeEndpointSpec(await freePort(), shards[0]?.upstream.port ?? 0),
    shards: [...shards],
    replicas: others,
  }
}

/** Keys of the groups 0, 1 and 2 of a cluster of this stage. */
export const keyOf = ['{b}k', '{c}k', '{a}k'] as const

/** A client that has been served once. */
export async function dialServed(port: number): Promise<RawClient> {
  const client = await dial(port)
  await client.ask('PING', '+PONG\r\n')
  return client
}
