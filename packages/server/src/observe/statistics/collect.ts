import type { ShardStatistics, StatisticsReport, Traffic } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { type AgentLink, AgentUnreachable } from '../../nodes/agent-link.ts'
import type { ProxyLink } from '../../nodes/proxy-link.ts'
import { type Flow, flowOf, ofDatabase, ofNode, ofShard } from './measure.ts'
import type { Sample, Series } from './series.ts'

/** The only node there is: server and agent on one machine. */
const THIS_NODE = 1

/** What is asked, and where it is put. */
export interface Collecting {
  readonly agent: Pick<AgentLink, 'reportStatistics'>
  readonly proxy: Pick<ProxyLink, 'reportTraffic'>
  readonly places: ShardPlaces
  /** Bytes that databases have reserved. */
  readonly promisedBytes: () => Promise<number>
  readonly series: Series
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Pick<Logger, 'warn'>
}

/** Asks once for what has changed since it asked last. */
export interface Collect {
  /** Never throws for what agent and proxy do. */
  (signal: AbortSignal): Promise<void>
  readonly measured: Measured
}

/** What agent and proxy have said at the last look; times are Unix milliseconds. */
export interface Measured {
  readonly agentIsUp: boolean
  readonly proxyIsUp: boolean
  /** When the agent answered last; 0: not yet. */
  readonly atMs: number
  readonly node: StatisticsReport | null
  /** By the id of the shard; each as it was when it last worked. */
  readonly shards: ReadonlyMap<number, ShardStatistics>
  /** Shards whose engine does not answer; null: the agent does not tell. */
  readonly down: ReadonlySet<number> | null
  /** By the name of the endpoint: `db` and the uid of its database. */
  readonly traffic: ReadonlyMap<string, Traffic>
}

interface Seen extends Measured {
  boot: string
  seq: number
  agentIsUp: boolean
  proxyIsUp: boolean
  atMs: number
  node: StatisticsReport | null
  down: ReadonlySet<number> | null
  ticks: StatisticsReport['ticks'] | null
  readonly shards: Map<number, ShardStatistics>
  /** By database. */
  readonly shardsOf: Map<number, Set<number>>
  traffic: ReadonlyMap<string, Traffic>
  flows: ReadonlyMap<string, Flow>
  said: string
}

/** Nothing was asked yet. */
export function createCollect(deps: Collecting): Collect {
  const seen: Seen = {
    boot: '',
    seq: 0,
    atMs: 0,
    ticks: null,
    traffic: new Map(),
    flows: new Map(),
    said: '',
    shards: new Map(),
    shardsOf: new Map(),
    agentIsUp: false,
    proxyIsUp: false,
    node: null,
    down: null,
  }
  const collect = async (signal: AbortSignal) => {
    try {
      const asked = { body: { boot: seen.boot, after: seen.seq } }
      const [report, { endpoints }] = await Promise.all([
        deps.agent.reportStatistics(asked, { signal }),
        // Without a proxy there are no endpoints, and shards are still measured.
        deps.proxy.reportTraffic({}, { signal }).catch(noneWhenAway),
      ])
      const down = report.down && new Set(report.down.map(shardId))
      const proxyIsUp = endpoints !== noEndpoints
      Object.assign(seen, { agentIsUp: true, proxyIsUp, node: report, down: down ?? null })
      const samples = await takeReport(report, endpoints, seen, deps)
      seen.said = ''
      // What was measured has happened since the last look: most looks come just after the end of an
      // interval.
      deps.series.take(seen.atMs - HALF_A_LOOK_MS, samples)
    } catch (cause) {
      const why = messageOf(cause)
      const isUsual = signal.aborted || cause instanceof AgentUnreachable
      if (!isUsual && seen.said !== why) deps.log.warn({ why }, 'statistics cannot be collected')
      seen.said = why
      // Everything is told again.
      seen.boot = ''
      if (!signal.aborted || cause instanceof AgentUnreachable) seen.agentIsUp = false
    }
  }
  return Object.assign(collect, { measured: seen })
}

const HALF_A_LOOK_MS = 5_000

const noEndpoints: readonly Traffic[] = []

function noneWhenAway(cause: unknown): { readonly endpoints: readonly Traffic[] } {
  if (cause instanceof AgentUnreachable) return { endpoints: noEndpoints }
  throw cause
}

async function takeReport(
  report: StatisticsReport,
  endpoints: readonly Traffic[],
  seen: Seen,
  { places, promisedBytes, series, now }: Collecting,
): Promise<readonly Sample[]> {
  const worked = report.shards.map((shard) => ({ id: shardId(shard.id), shard }))
  const found = await places.find(worked.map(({ id }) => id).filter(Number.isSafeInteger))
  const changed = new Set<number>()
  const samples: Sample[] = []
  for (const { id, shard } of worked) {
    const place = found.get(id)
    // A trial, or one that is removed by now.
    if (place === undefined) continue
    seen.shards.set(id, shard)
    const own = seen.shardsOf.get(place.databaseUid) ?? new Set()
    seen.shardsOf.set(place.databaseUid, own.add(id))
    changed.add(place.databaseUid)
    samples.push({ kind: 'shard', uid: id, values: ofShard(shard), latencies: null })
  }
  for (const name of report.gone) dropShard(shardId(name), found.get(shardId(name)), seen, { places, series })
  for (const uid of takeFlows(endpoints, seen, now())) if (seen.shardsOf.has(uid)) changed.add(uid)
  for (const uid of changed) samples.push(databaseOf(uid, seen, found))
  samples.push(ofNode(THIS_NODE, seen.ticks, report, await promisedBytes(), seen.flows.values()))
  Object.assign(seen, { boot: report.boot, seq: report.seq, ticks: report.ticks })
  return samples
}

/** The databases whose endpoints have worked, or have other clients, than at the last look. */
function takeFlows(endpoints: readonly Traffic[], seen: Seen, atMs: number): readonly number[] {
  const seconds = seen.atMs === 0 ? 0 : (atMs - seen.atMs) / 1_000
  const flows = new Map(
    endpoints.map((now) => [now.id, flowOf(seen.traffic.get(now.id), now, seconds)] as const),
  )
  const names = new Set([...flows.keys(), ...seen.flows.keys()])
  const moved = [...names].filter((name) => {
    const [before, now] = [seen.flows.get(name) ?? noFlow, flows.get(name) ?? noFlow]
    // Where it has just come to rest, that is to be seen, too.
    return now.total_req > 0 || before.total_req > 0 || now.conns !== before.conns
  })
  Object.assign(seen, { flows, atMs, traffic: new Map(endpoints.map((now) => [now.id, now])) })
  return moved.map((name) => Number(name.slice(2)))
}

const noFlow: Flow = { conns: 0, total_req: 0, ingress_bytes: 0, egress_bytes: 0, latencies: null }

function databaseOf(uid: number, seen: Seen, places: ReadonlyMap<number, ShardPlace>): Sample {
  const ids = [...(seen.shardsOf.get(uid) ?? [])]
  const shards = ids.flatMap((id) => seen.shards.get(id) ?? [])
  const hasEndpoint = ids.some((id) => places.get(id)?.hasEndpoint === true)
  const flow = hasEndpoint ? (seen.flows.get(`db${uid}`) ?? noFlow) : undefined
  return ofDatabase(uid, shards, flow)
}

function dropShard(
  id: number,
  place: ShardPlace | undefined,
  seen: Seen,
  { places, series }: Pick<Collecting, 'places' | 'series'>,
): void {
  places.forget(id)
  seen.shards.delete(id)
  series.forget('shard', id)
  const own = place && seen.shardsOf.get(place.databaseUid)
  if (place === undefined || own === undefined) return
  own.delete(id)
  if (own.size > 0) return
  seen.shardsOf.delete(place.databaseUid)
  series.forget('bdb', place.databaseUid)
}

/** The id of the shard on record, from the agent's name of it. */
function shardId(name: string): number {
  return Number(name.slice(1))
}

/** Place of a shard. It never goes to another database. */
export interface ShardPlace {
  readonly shardId: number
  readonly databaseUid: number
  /** Clients of its database use an endpoint. */
  readonly hasEndpoint: boolean
}

/** Knows the database of each shard that has been asked for once. */
interface ShardPlaces {
  /** Returns the places of recorded shards. The others are read again at the next call. */
  find(ids: readonly number[]): Promise<ReadonlyMap<number, ShardPlace>>
  forget(id: number): void
}

/** `read` is asked for shards that are not known yet. */
export function rememberPlaces(
  read: (ids: readonly number[]) => Promise<readonly ShardPlace[]>,
): ShardPlaces {
  const known = new Map<number, ShardPlace>()
  return {
    async find(ids) {
      const unknown = ids.filter((id) => !known.has(id))
      if (unknown.length > 0) for (const place of await read(unknown)) known.set(place.shardId, place)
      return known
    },
    forget: (id) => known.delete(id),
  }
}
