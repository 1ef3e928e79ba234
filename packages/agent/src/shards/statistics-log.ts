import { randomUUID } from 'node:crypto'
import type { ShardStatistics, StatisticsReport } from '@fairlead/api'
import { type EngineCounters, isStill, perSecond } from '../engine/read-counters.ts'

/** What the shards of a node did, for servers that ask which of them have worked. */
export interface StatisticsLog {
  /** The counters of the process that was started then, as of its last look; the same object: it was not asked again. */
  shard(id: string, startedAt: number, counters: EngineCounters): void
  gone(id: string): void
  /** What came after `after` of this `boot`. */
  since(asked: {
    readonly boot: string
    readonly after: number
  }): Pick<StatisticsReport, 'boot' | 'seq' | 'shards' | 'gone'>
}

/** Of shards that are gone it is remembered for this many. */
const MOST_GONE = 1_000

interface Entry {
  readonly startedAt: number
  last: EngineCounters
  lastAt: number
  /** Its gauges are those of the look at which it was told. */
  told: ShardStatistics
  seq: number
  hasWorked: boolean
}

/** A log without an entry. `clock`: milliseconds that only rise. */
export function createStatisticsLog(clock = (): number => performance.now()): StatisticsLog {
  const boot = randomUUID()
  const shards = new Map<string, Entry>()
  const gone = new Map<string, number>()
  let [seq, forgotten] = [1, 0]
  return {
    shard(id, startedAt, counters) {
      const before = shards.get(id)
      if (before?.last === counters) return
      const known = before?.startedAt === startedAt ? before : null
      const now = clock()
      const seconds = known === null ? 0 : (now - known.lastAt) / 1_000
      const hasWorked =
        known !== null && !isStill({ ...known.told, ...countersOf(known.last) }, counters, seconds)
      if (known !== null && !hasWorked && !known.hasWorked) {
        Object.assign(known, { last: counters, lastAt: now })
        return
      }
      seq += 1
      gone.delete(id)
      // Where only Fairlead has asked, its own questions are no work.
      const done = perSecond(hasWorked ? (known?.last ?? null) : null, counters, seconds)
      const told = { id, ...counters, ...done }
      shards.set(id, { startedAt, last: counters, lastAt: now, told, seq, hasWorked })
    },
    gone(id) {
      if (!shards.delete(id)) return
      seq += 1
      gone.set(id, seq)
      const [oldest] = gone
      if (gone.size <= MOST_GONE || oldest === undefined) return
      gone.delete(oldest[0])
      forgotten = oldest[1]
    },
    since({ boot: known, after: asked }) {
      const after = known === boot && asked >= forgotten ? asked : 0
      return {
        ...{ boot, seq },
        shards: [...shards.values()].filter((entry) => entry.seq > after).map(({ told }) => told),
        gone: [...gone].filter(([, at]) => at > after).map(([id]) => id),
      }
    },
  }
}

function countersOf({ commands, hits, misses, expired, evicted }: EngineCounters) {
  return { commands, hits, misses, expired, evicted }
}
