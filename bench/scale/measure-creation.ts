import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, fetchStreamTransport, fetchTransport, operations } from '@fairlead/api'
import { creatingSmallest } from '../../proof/creating-smallest.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'
import { median } from '../median.ts'
import { startBare, startWithinWalls } from './bare-engines.ts'
import { sideBySide } from './side-by-side.ts'
import { cpuMs } from './watch-process.ts'

/**
 * Creations as clients see them, this many at a time. Each value per database is processor time in ms, or a
 * median in ms.
 */
export interface CreationRun {
  readonly atOnce: number
  readonly count: number
  readonly ms: number
  /** From POST to 200. */
  readonly acceptedMs: number
  /** From POST until the action has ended: the database is active, and its endpoint serves. */
  readonly endedMs: number
  readonly serverMs: number
  readonly agentMs: number
  /** Processor time of the engines until then, and of the short processes that make their walls. */
  readonly engineMs: number
  readonly wallMs: number
  /**
   * The start of the same number of engines, the same number at once: bare, and configured as shards within
   * walls. Total of all.
   */
  readonly bareMs: number
  readonly walledMs: number
}

/**
 * Enough ports for the shard, the TLS port and the endpoint of each database, below the ports of tests and of
 * outgoing connections.
 */
export const PORTS = '12000-18999'

/**
 * Measures the creation of `count` databases one after the other, then of as many ten at a time; and the
 * start of as many engines in the same way.
 */
export async function measureCreation(
  count: number,
  atOnce: readonly number[],
): Promise<readonly CreationRun[]> {
  const bare = []
  for (const at of atOnce)
    bare.push({ bareMs: await startBare(count, at), walledMs: await startWithinWalls(count, at) })
  const env = { FAIRLEAD_PORT_RANGE: PORTS, NODE_OPTIONS: process.env['SCALE_NODE_OPTIONS'] ?? '' }
  await using fairlead = await startFairlead({ env })
  await create('first', fairlead)
  const runs: CreationRun[] = []
  for (const [n, at] of atOnce.entries())
    runs.push({ ...(await createMany(count, at, fairlead)), ...(bare[n] ?? { bareMs: 0, walledMs: 0 }) })
  return runs
}

async function createMany(
  count: number,
  atOnce: number,
  fairlead: Fairlead,
): Promise<Omit<CreationRun, 'bareMs' | 'walledMs'>> {
  const { server, agent, home } = fairlead
  const before = { server: cpuMs(server.pid), agent: cpuMs(agent.pid), engines: new Set(enginesOf(home)) }
  const times: Times[] = []
  const began = performance.now()
  await sideBySide(count, atOnce, async (n) => {
    times.push(await create(`by-${atOnce}-${n}`, fairlead))
  })
  const ms = performance.now() - began
  const engines = enginesOf(home).filter((pid) => !before.engines.has(pid))
  const sum = (of: 'own' | 'children') => engines.reduce((all, pid) => all + cpuMs(pid, of), 0)
  return {
    atOnce,
    count,
    ms,
    acceptedMs: median(times.map(({ acceptedMs }) => acceptedMs)),
    endedMs: median(times.map(({ endedMs }) => endedMs)),
    serverMs: (cpuMs(server.pid) - before.server) / count,
    agentMs: (cpuMs(agent.pid) - before.agent) / count,
    engineMs: sum('own') / count,
    wallMs: sum('children') / count,
  }
}

interface Times {
  readonly acceptedMs: number
  readonly endedMs: number
}

/** Follows the action by its events: repeated requests for the action would be most of the server's work. */
export async function create(
  name: string,
  { url, token, untilEnded }: Pick<Fairlead, 'url' | 'token' | 'untilEnded'>,
): Promise<Times & { readonly uid: number }> {
  const api = creatingSmallest(
    createClient(operations, fetchTransport(url), () => token, fetchStreamTransport(url)),
  )
  const began = performance.now()
  const { uid, action_uid } = await api.createDatabase({ body: { name, memory_size: 0 } })
  const acceptedMs = performance.now() - began
  if (action_uid === undefined) throw new Error('it was created without an action')
  for await (const _ of api.followAction({ params: { uid: action_uid }, query: {} }));
  const endedMs = performance.now() - began
  const { status, error } = await untilEnded(action_uid)
  if (status !== 'completed') throw new Error(`the creation ended ${status}: ${error ?? ''}`)
  return { uid, acceptedMs, endedMs }
}

/** The processes of all shards. Each first made the wall, and then became the engine. */
function enginesOf(home: string): readonly number[] {
  return readdirSync(join(home, 'shards')).flatMap((id) => {
    const record = JSON.parse(readFileSync(join(home, 'shards', id, 'process.json'), 'utf8')) as {
      readonly identity: { readonly pid: number } | null
    }
    return record.identity?.pid ?? []
  })
}
