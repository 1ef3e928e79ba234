import { randomUUID } from 'node:crypto'
import type { ShardStatistics, StatisticsReport } from '@fairlead/api'
import { type EngineCounters, isStill, perSecond } from '../engine/read-counters.ts'

/** Activity of a node's shards, for servers that ask which of them have worked. */
export interface StatisticsLog {
  /** Takes the last counters of the process started then; the same object: not read again. */
  shard(id: string, startedAt: number, counters: EngineCounters): void
  gone(id: string): void
  /** Returns the news after `after` of this `boot`. */
  since(asked: {
    readonly boot: string
    readonly after: number
  }): Pick<StatisticsReport, 'boot' | 'seq' | 'shards' | 'gone'>
}

/** Number of removed shards that are remembered. */
const MOST_GONE = 1_000

interface Entry {
  readonly startedAt: number
  last: EngineCounters
  lastAt: number
  /** Reported statistics; gauges are from the look of that report. */
  told: ShardStatistics
  seq: number
  hasWorked: boolean
}

/** Creates an empty log. `clock`: monotonic ms. */
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
      // If only Fairlead has asked, its questions are no work.
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
        boot,
        seq,
        shards: [...shards.values()].filter((entry) => entry.seq > after).map(({ told }) => told),
        gone: [...gone].filter(([, at]) => at > after).map(([id]) => id),
      }
    },
  }
}

function countersOf({ commands, hits, misses, expired, evicted }: EngineCounters) {
  return { commands, hits, misses, expired, evicted }
}
