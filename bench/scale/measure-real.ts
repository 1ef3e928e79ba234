import { connectEngine } from '@fairlead/engine'
import { spawnEngine } from '../../proof/spawn-engine.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { newestPair } from '../upgrade/newest-pair.ts'
import type { RealRun } from './summarize-scale.ts'
import { watchProcesses } from './watch-process.ts'

/** Enough for a shard, its TLS port and an endpoint of each, below those of tests and of outgoing connections. */
const PORTS = { from: 12_000, to: 18_999 }
const FIRST_BARE_PORT = 19_000
const COUNTED = 100
const AT_ONCE = 10
/** What the creation has left to do: upkeep that was put off, and the settings of each, which its agent reads every 30 s. */
const SETTLE_MS = 75_000
const ENDS_WITHIN_MS = 600_000

/** Real engines, idle, so many: an upgrade of one before the others are there, and among them. */
export async function measureReal({
  databases,
  rounds,
  idleMs,
}: {
  readonly databases: number
  readonly rounds: number
  readonly idleMs: number
}): Promise<RealRun> {
  const counted = Math.min(COUNTED, databases)
  const bareMs = await startBare(counted)
  const env = {
    FAIRLEAD_PORT_RANGE: `${PORTS.from}-${PORTS.to}`,
    NODE_OPTIONS: process.env['SCALE_NODE_OPTIONS'] ?? '',
  }
  await using fairlead = await startFairlead({ env })
  const one = await create('upgraded', fairlead)
  const aloneMs = await upgrades(one, rounds, fairlead)
  const ms = await createMany('counted', counted, fairlead)
  await createMany('more', databases - counted, fairlead)
  await watchProcesses([], SETTLE_MS)
  const [server, agent] = await watchProcesses([fairlead.server.pid, fairlead.agent.pid], idleMs)
  return {
    databases,
    serverCores: server?.cores ?? 0,
    agentCores: agent?.cores ?? 0,
    aloneMs,
    amongMs: await upgrades(one, rounds, fairlead),
    created: { count: counted, ms, bareMs },
  }
}

/** Until all answer; so many at once. */
async function startBare(count: number): Promise<number> {
  await using engines = new AsyncDisposableStack()
  const { to: build } = newestPair()
  const began = performance.now()
  await inTens(count, async (n) => {
    const port = FIRST_BARE_PORT + n
    engines.use(await spawnEngine(build, { lines: [`port ${port}`, 'bind 127.0.0.1', 'save ""'] }))
    await until(`the engine at ${port} answers`, () => answers(port))
  })
  return performance.now() - began
}

async function answers(port: number): Promise<boolean> {
  try {
    const login = { username: 'default', password: 'any' }
    using connection = await connectEngine({ address: { host: '127.0.0.1', port }, login })
    return connection.usable
  } catch (cause) {
    // Without a password it refuses each, and so answers.
    return cause instanceof Error && cause.cause instanceof Error && cause.cause.name === 'EngineError'
  }
}

async function createMany(name: string, count: number, fairlead: Fairlead): Promise<number> {
  const began = performance.now()
  await inTens(count, async (n) => void (await create(`${name}-${n}`, fairlead)))
  return performance.now() - began
}

async function create(name: string, { api, untilEnded }: Fairlead): Promise<number> {
  const { uid, action_uid } = await api.createDatabase({ body: { name, memory_size: 0 } })
  await untilEnded(action_uid, ENDS_WITHIN_MS)
  return uid
}

async function upgrades(
  uid: number,
  rounds: number,
  { api, untilEnded }: Fairlead,
): Promise<readonly number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now()
    const { action_uid } = await api.upgradeDatabase({ params: { uid }, body: { force_restart: true } })
    const { status, error } = await untilEnded(action_uid, ENDS_WITHIN_MS)
    if (status !== 'completed') throw new Error(`the upgrade ended ${status}: ${error ?? ''}`)
    times.push(performance.now() - began)
  }
  return times
}

/** As many at once as are under way at any time: each begins when one before it has ended. */
async function inTens(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let n = next++; n < count; n = next++) await work(n)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
