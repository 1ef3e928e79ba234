import { type AnsweredInterval, type KeptInterval, keptIntervals } from '@fairlead/api'
import type { Store } from '../../store/open-store.ts'
import { type StatisticsStore, statisticsStore } from '../stores/statistics-store.ts'
import { type Collecting, createCollect, type Measured } from './collect.ts'
import { type SeriesKind, shown, type Values } from './columns.ts'
import { type ComposedInterval, compose, composed } from './compose.ts'
import { rememberPlaces, type ShardPlace } from './databases-of-shards.ts'
import { resolutions, slotOf, storedIntervals } from './resolutions.ts'
import { createSeries, type Point, type Series } from './series.ts'

/** An interval as it is shown; times are Unix milliseconds. */
export interface Interval {
  readonly interval: AnsweredInterval
  readonly fromMs: number
  readonly toMs: number
  readonly values: Values
}

/** Which intervals are asked for; times are Unix milliseconds. */
export interface IntervalsAsked {
  readonly interval: AnsweredInterval | undefined
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
}

/** What was measured of databases, shards and nodes, by every server for itself. */
export interface Statistics extends AsyncDisposable {
  uids(kind: SeriesKind): readonly number[]
  /** In order. None of what is not known. */
  intervals(kind: SeriesKind, uid: number, asked: IntervalsAsked): readonly Interval[]
  /** The last of those that `intervals` answers. */
  last(kind: SeriesKind, uid: number, asked: IntervalsAsked): Interval | null
  readonly size: Series['size']
  /** The last look. */
  readonly measured: Measured
  /** Measures now. It is done every ten seconds by itself. */
  look(): Promise<void>
}

const LOOK_EVERY_MS = 10_000
/** A kept interval is closed by the first look that is wholly after it. */
const CLOSED_WITHIN_MS = 2 * LOOK_EVERY_MS
/** A look that takes longer is given up: the next one is due. */
const LOOK_WITHIN_MS = 8_000

interface Deps extends Pick<Collecting, 'agent' | 'proxy' | 'log' | 'now'> {
  readonly store: Store
  readonly placesOf: (shardIds: readonly number[]) => Promise<readonly ShardPlace[]>
}

/** Reads what an earlier server has stored, and measures every ten seconds until it is disposed of. */
export async function createStatistics({ store, placesOf, ...deps }: Deps): Promise<Statistics> {
  const { now, log } = deps
  const series = createSeries()
  const stored = statisticsStore(store.db)
  await restore(series, stored, now())
  const collect = createCollect({ ...deps, series, places: rememberPlaces(placesOf) })
  const end = new AbortController()
  const look = async () => {
    const closed = await collect(AbortSignal.any([end.signal, AbortSignal.timeout(LOOK_WITHIN_MS)]))
    for (const each of closed) await stored.add(each, each.slot - resolutions[each.interval].most)
  }
  let looking: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  // At whole multiples of it: then each look is the only one of its interval.
  const schedule = () => {
    timer = setTimeout(turn, LOOK_EVERY_MS - (Date.now() % LOOK_EVERY_MS) + 50).unref()
  }
  const turn = () => {
    looking = look()
      .catch((cause: unknown) => log.warn({ err: cause }, 'statistics cannot be stored'))
      .finally(() => {
        if (!end.signal.aborted) schedule()
      })
  }
  schedule()
  return {
    look,
    measured: collect.measured,
    uids: series.uids,
    intervals: (kind, uid, asked) => intervalsOf(series, now(), kind, uid, asked),
    last(kind, uid, asked) {
      const { interval = '10sec', fromMs, toMs } = asked
      if (interval !== '10sec' || fromMs !== undefined || toMs !== undefined)
        return intervalsOf(series, now(), kind, uid, asked).at(-1) ?? null
      const point = series.last(kind, uid)
      return point && show(kind, '10sec', point)
    },
    get size() {
      return series.size
    },
    async [Symbol.asyncDispose]() {
      end.abort()
      clearTimeout(timer)
      await looking
    },
  }
}

async function restore(series: Series, stored: StatisticsStore, nowMs: number): Promise<void> {
  for (const interval of storedIntervals) {
    const from = slotOf(interval, nowMs) - resolutions[interval].most
    for await (const closed of stored.read(interval, from)) series.restore(closed)
  }
}

function intervalsOf(
  series: Series,
  nowMs: number,
  kind: SeriesKind,
  uid: number,
  { interval: asked, fromMs = 0, toMs = nowMs }: IntervalsAsked,
): readonly Interval[] {
  const reaches = (one: KeptInterval) => fromMs >= nowMs - resolutions[one].ms * resolutions[one].most
  const interval = asked ?? (fromMs === 0 ? '10sec' : (keptIntervals.find(reaches) ?? '1hour'))
  const from = Math.floor(fromMs / lengthOf(interval))
  if (!isComposed(interval)) {
    const points = series.points(kind, uid, interval, from, slotOf(interval, toMs))
    return points.map((point) => show(kind, interval, point))
  }
  const { of, parts } = composed[interval]
  const lastPart = (Math.floor(toMs / lengthOf(interval)) + 1) * parts - 1
  const points = series.points(kind, uid, of, from * parts, lastPart)
  return compose(points, parts, slotOf(of, nowMs - CLOSED_WITHIN_MS)).map((point) =>
    show(kind, interval, point),
  )
}

function isComposed(interval: AnsweredInterval): interval is ComposedInterval {
  return interval in composed
}

/** Milliseconds. */
function lengthOf(interval: AnsweredInterval): number {
  if (!isComposed(interval)) return resolutions[interval].ms
  const { of, parts } = composed[interval]
  return resolutions[of].ms * parts
}

function show(kind: SeriesKind, interval: AnsweredInterval, { slot, values }: Point): Interval {
  const ms = lengthOf(interval)
  return { interval, fromMs: slot * ms, toMs: (slot + 1) * ms, values: shown(kind, values) }
}
