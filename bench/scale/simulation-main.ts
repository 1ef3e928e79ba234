/**
 * The agent and the proxy of a node as the server of SCALE_HOME sees them. Those of SCALE_BEHIND, which are
 * real, answer for all databases but the simulated ones (POST /simulation), and for the node itself.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIFE_HEADER, type NodeReport, type ShardSpec, shardOfTunnel, TUNNEL_PROTOCOL } from '@fairlead/api'
import { connectEngine } from '@fairlead/engine'
import { type Answer, getText, serveSocket, type Tunnel } from './serve-socket.ts'
import { createSimulatedEngines, type SimulatedEngines } from './simulated-engine.ts'
import {
  createSimulatedEndpoints,
  createSimulatedShards,
  idOf,
  type SimulatedShard,
} from './simulated-node.ts'
import { type ToldChanges, tellChanges } from './tell-changes.ts'

const { SCALE_HOME: home = '', SCALE_BEHIND: behind = '' } = process.env

const real = { agent: join(behind, 'run', 'agent.sock'), proxy: join(behind, 'proxy', 'proxy.sock') }
let lastUp: { readonly shard: string; readonly at: number } | null = null
let simulated: Simulated | null = null

interface Simulated {
  readonly shards: ReturnType<typeof createSimulatedShards>
  readonly endpoints: ReturnType<typeof createSimulatedEndpoints>
  readonly engines: SimulatedEngines
  readonly changes: ToldChanges
  /** The uids of the simulated databases, and of their template. */
  readonly adminPassword: string
  readonly template: string
  readonly free: Pick<NodeReport, 'memoryFreeBytes' | 'diskFreeBytes'>
}

/** `template`: the real shard on which all simulated shards are modelled. */
interface Simulation {
  readonly template: string
  readonly shards: readonly SimulatedShard[]
}

async function simulate({ template, shards: wanted }: Simulation): Promise<void> {
  const file = join(behind, 'shards', template, 'wanted.json')
  const { wish } = JSON.parse(readFileSync(file, 'utf8')) as { readonly wish: ShardSpec }
  const connection = await connectEngine({
    address: wish,
    login: { username: 'fairlead', password: wish.adminPassword },
  })
  const { memoryFreeBytes, diskFreeBytes, shards: there } = await realReport()
  const found = there.find(({ id }) => id === template)
  if (found === undefined) throw new Error(`there is no shard ${template}`)
  const changes = await tellChanges(real.agent)
  const endpoints = createSimulatedEndpoints()
  const shards = createSimulatedShards(found, changes.log, (shard, at) => {
    lastUp = { shard, at }
  })
  const engines = createSimulatedEngines(connection)
  for (const one of wanted) {
    shards.add(one)
    endpoints.add(`db${one.databaseUid}`)
  }
  const free = { memoryFreeBytes, diskFreeBytes }
  simulated = { shards, endpoints, engines, changes, adminPassword: wish.adminPassword, template, free }
}

let reporting: Promise<string> | null = null
/** One request to the real agent answers all requests that arrive while it is under way. */
async function realReport(): Promise<NodeReport> {
  reporting ??= getText(real.agent, '/agent/report').finally(() => {
    reporting = null
  })
  return JSON.parse(await reporting) as NodeReport
}

const answerAgent: Answer = async ({ method, path, body }) => {
  if (path === '/simulation') {
    if (method === 'POST') await simulate(JSON.parse(await body()) as Simulation)
    return JSON.stringify({ ...simulated?.engines.answered(), lastUp })
  }
  if (simulated === null) return undefined
  const { shards, changes } = simulated
  if (path === '/agent/changes') return JSON.stringify(await changes.log.await(JSON.parse(await body())))
  if (path === '/agent/report/shards') return reportShards(await body(), simulated)
  if (path === '/agent/report') return withMore(await realReport(), 'shards', shards.text())
  const [, id = '', part] = /^\/agent\/shards\/([^/]+)(?:\/(.+))?$/.exec(path) ?? []
  if (method === 'PUT' && part === undefined && id !== simulated.template)
    return putShard(id, body, simulated)
  if (!shards.has(id)) return undefined
  if (part === 'baseline') return JSON.stringify({ settings: null })
  if (method === 'DELETE') shards.remove(id)
  return JSON.stringify({ id })
}

/** Requests about a simulated database. All others go to the real agent and proxy. */
function reportShards(text: string, { shards, free }: Simulated) {
  const { ids } = JSON.parse(text) as { readonly ids: readonly string[] }
  const found = ids.flatMap((id) => shards.get(id) ?? [])
  return found.length === 0 ? { behind: text } : JSON.stringify({ ...free, shards: found })
}

/** A shard of a simulated database is a simulated one, and has the same password as all of them. */
async function putShard(id: string, body: () => Promise<string>, { shards, adminPassword }: Simulated) {
  const text = await body()
  const spec = JSON.parse(text) as ShardSpec
  if (spec.adminPassword !== adminPassword) return { behind: text }
  shards.put(id, spec)
  return JSON.stringify(shards.get(id))
}

const answerProxy: Answer = async ({ method, path, body }) => {
  if (simulated === null) return undefined
  const { endpoints } = simulated
  if (path === '/proxy/report') {
    const report = JSON.parse(await getText(real.proxy, path)) as { readonly endpoints: readonly unknown[] }
    return withMore(report, 'endpoints', endpoints.text())
  }
  const [, id = ''] = /^\/proxy\/endpoints\/([^/]+)/.exec(path) ?? []
  if (!endpoints.has(id)) return undefined
  if (method === 'PUT') return JSON.stringify(endpoints.put(id, JSON.parse(await body())))
  if (path.endsWith('/scripts')) return JSON.stringify({ flushed: false, scripts: [] })
  if (method === 'DELETE') endpoints.remove(id)
  return JSON.stringify(endpoints.get(id) ?? { id })
}

/** The report with further entries in one of its lists. */
function withMore<Name extends string>(
  report: { readonly [Key in Name]: readonly unknown[] },
  name: Name,
  more: string,
): string {
  const list = [...report[name].map((one) => JSON.stringify(one)), ...(more === '' ? [] : [more])].join()
  const others = Object.entries(report).filter(([key]) => key !== name)
  return `${JSON.stringify(Object.fromEntries(others)).slice(0, -1)},"${name}":[${list}]}`
}

const openTunnel: Tunnel = async (path) => {
  const id = shardOfTunnel(path) ?? ''
  const [shard, engines] = [simulated?.shards.get(id), simulated?.engines]
  if (shard === undefined || engines === undefined) return undefined
  const { life } = JSON.parse(await getText(real.agent, '/agent/life')) as { readonly life: string }
  const headers = ['connection: Upgrade', `upgrade: ${TUNNEL_PROTOCOL}`, `${LIFE_HEADER}: ${life}`]
  const face = { port: shard.port, runId: idOf('run', id), replid: idOf('history', id) }
  return { headers, speak: (socket) => engines.speak(socket, face) }
}

const agent = await serveSocket(join(home, 'run', 'agent.sock'), real.agent, answerAgent, openTunnel)
const proxy = await serveSocket(join(home, 'proxy', 'proxy.sock'), real.proxy, answerProxy)
process.once('SIGTERM', () => {
  const all = [agent, proxy, ...(simulated === null ? [] : [simulated.changes])]
  void Promise.allSettled(all.map((one) => one[Symbol.asyncDispose]())).then(() => process.exit(0))
})
process.send?.({ url: '' })
