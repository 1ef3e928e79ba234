import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'
import { startBare, startWithinWalls } from './bare-engines.ts'
import { create, PORTS } from './measure-creation.ts'
import { sideBySide } from './side-by-side.ts'
import type { RealRun } from './summarize-scale.ts'
import { watchProcesses } from './watch-process.ts'

const COUNTED = 100
const AT_ONCE = 10
/**
 * After this time the work that follows a creation is done: postponed upkeep, and the settings of each
 * engine, which its agent reads every 30 s.
 */
const SETTLE_MS = 75_000
const ENDS_WITHIN_MS = 600_000

/**
 * Idle databases with this many real engines: an upgrade of one database before the others exist, and beside
 * them.
 */
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
  const bareMs = await startBare(counted, AT_ONCE)
  const walledMs = await startWithinWalls(counted, AT_ONCE)
  const env = {
    FAIRLEAD_PORT_RANGE: PORTS,
    NODE_OPTIONS: process.env['SCALE_NODE_OPTIONS'] ?? '',
  }
  await using fairlead = await startFairlead({ env })
  const { uid: one } = await create('upgraded', fairlead)
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
    created: { count: counted, ms, bareMs, walledMs },
  }
}

async function createMany(name: string, count: number, fairlead: Fairlead): Promise<number> {
  const began = performance.now()
  await sideBySide(count, AT_ONCE, async (n) => void (await create(`${name}-${n}`, fairlead)))
  return performance.now() - began
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
