import { X509Certificate } from 'node:crypto'
import { setImmediate as pause } from 'node:timers/promises'
import type { Store } from '../../store/open-store.ts'
import type { Measured } from '../statistics/collect.ts'
import type { Statistics } from '../statistics/statistics-service.ts'
import {
  type ActionsOfMetrics,
  type DatabaseOfMetrics,
  metricsStore,
  type ShardOfMetrics,
} from '../stores/metrics-store.ts'
import type { Counters } from './counters.ts'
import type { ProcessReading, ProcessWatch } from './watch-process.ts'

/** The facts of one scrape. */
export interface Facts {
  /** Version of the server. */
  readonly version: string
  readonly counters: Counters
  readonly measured: Measured
  readonly process: ProcessReading
  readonly load: LoopLoad
  /** False: the store did not answer, and the records are older ones. */
  readonly storeIsUp: boolean
  readonly records: Records
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** Number of databases in a turn, and of waiting ones per queue. */
export interface LoopLoad {
  readonly running: number
  readonly waiting: Readonly<Record<string, number>>
}

/** Facts from the store. */
export interface Records {
  readonly databases: readonly DatabaseOfMetrics[]
  /** Number of databases that are left out. */
  readonly leftOut: number
  readonly shards: readonly ShardOfMetrics[]
  readonly actions: readonly ActionsOfMetrics[]
  readonly needingPerson: ReadonlySet<number>
  readonly certificates: readonly {
    readonly name: string
    readonly origin: string
    readonly endsAtMs: number
  }[]
}

/** Sources of facts. */
export interface FactSources {
  readonly version: string
  readonly store: Store
  readonly counters: Counters
  readonly statistics: Pick<Statistics, 'measured'>
  readonly process: Pick<ProcessWatch, 'read'>
  readonly load: () => LoopLoad
  readonly mostDatabases: number
  readonly now: () => number
}

const nothing: Records = {
  databases: [],
  leftOut: 0,
  shards: [],
  actions: [],
  needingPerson: new Set(),
  certificates: [],
}

/** Each call reads the facts again. Uses the last records while the store is unreachable. */
export function createReadFacts(sources: FactSources): () => Promise<Facts> {
  const { version, store, counters, statistics, process, load, mostDatabases, now } = sources
  const endOf = rememberEnds()
  let records = nothing
  return async () => {
    const [read, ofProcess] = await Promise.all([
      readRecords(store, mostDatabases, endOf).catch(() => null),
      process.read(),
    ])
    records = read ?? records
    return {
      version,
      counters,
      records,
      process: ofProcess,
      measured: statistics.measured,
      load: load(),
      storeIsUp: read !== null,
      nowMs: now(),
    }
  }
}

async function readRecords({ db }: Store, most: number, endOf: (pem: string) => number): Promise<Records> {
  const stored = metricsStore(db)
  const all = await stored.countDatabases()
  const databases = await stored.databases(most, pause)
  const shards = await stored.shardsOf(
    databases.map(({ uid }) => uid),
    pause,
  )
  const [actions, needing] = [await stored.actions(), await stored.needingPerson(Math.max(1, most))]
  const certificates = (await stored.certificates()).map(({ name, certificate, origin }) => ({
    name,
    origin,
    endsAtMs: endOf(certificate),
  }))
  return {
    databases,
    shards,
    actions,
    certificates,
    leftOut: Math.max(0, all - databases.length),
    needingPerson: new Set(needing),
  }
}

/** Caches the end of certificates, because parsing takes longer. */
function rememberEnds(): (pem: string) => number {
  let known = new Map<string, number>()
  return (pem) => {
    const end = known.get(pem) ?? new X509Certificate(pem).validToDate.getTime()
    if (known.size > MOST_REMEMBERED) known = new Map()
    known.set(pem, end)
    return end
  }
}

const MOST_REMEMBERED = 100
