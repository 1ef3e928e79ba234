import type { StatisticsInterval } from '@fairlead/api'
import { type Collecting, createCollect, type Measured, rememberPlaces, type ShardPlace } from './collect.ts'
import { type SeriesKind, shown, type Values } from './columns.ts'
import { compose, type Point, SLOT_MS, slotOf, slotsIn } from './compose.ts'
import { createSeries, type Series } from './series.ts'

/** One interval of an answer; times are Unix milliseconds. */
export interface Interval {
  readonly interval: StatisticsInterval
  readonly fromMs: number
  readonly toMs: number
  readonly values: Values
}

/** The intervals that a request asks for; times are Unix milliseconds. */
export interface IntervalsAsked {
  readonly interval: StatisticsInterval | undefined
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
}

/** Measurements of databases, shards and nodes, which each server makes for itself. */
export interface Statistics extends AsyncDisposable {
  uids(kind: SeriesKind): readonly number[]
  /** In order; an interval without a measurement is missing. */
  intervals(kind: SeriesKind, uid: number, asked: IntervalsAsked): readonly Interval[]
  /** The last of those that `intervals` returns. */
  last(kind: SeriesKind, uid: number, asked: IntervalsAsked): Interval | null
  readonly size: Series['size']
  /** The last measurement. */
  readonly measured: Measured
  /** Measures now. This happens every ten seconds anyway. */
  look(): Promise<void>
}

/** A measurement that takes longer is abandoned: the next one is due. */
const LOOK_WITHIN_MS = 8_000

interface Deps extends Pick<Collecting, 'agent' | 'proxy' | 'log' | 'now' | 'promisedBytes'> {
  readonly placesOf: (shardIds: readonly number[]) => Promise<readonly ShardPlace[]>
}

/** Measures every ten seconds until it is disposed of. */
export function createStatistics({ placesOf, ...deps }: Deps): Statistics {
  const { now, log } = deps
  const series = createSeries()
  const collect = createCollect({ ...deps, series, places: rememberPlaces(placesOf) })
  const end = new AbortController()
  const look = () => collect(AbortSignal.any([end.signal, AbortSignal.timeout(LOOK_WITHIN_MS)]))
  let looking: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  // At whole multiples of a slot, so that each measurement is the only one of its slot.
  const schedule = () => {
    timer = setTimeout(turn, SLOT_MS - (Date.now() % SLOT_MS) + 50).unref()
  }
  const turn = () => {
    looking = look()
      .catch((cause: unknown) => log.warn({ err: cause }, 'statistics cannot be measured'))
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

function intervalsOf(
  series: Series,
  nowMs: number,
  kind: SeriesKind,
  uid: number,
  { interval = '10sec', fromMs = 0, toMs = nowMs }: IntervalsAsked,
): readonly Interval[] {
  const parts = slotsIn[interval]
  const ofWhole = (atMs: number) => Math.floor(atMs / (parts * SLOT_MS))
  const points = series.points(kind, uid, ofWhole(fromMs) * parts, (ofWhole(toMs) + 1) * parts - 1)
  // The measurement of the slot before this one may still be missing.
  const whole = parts === 1 ? points : compose(points, parts, slotOf(nowMs) - 1)
  return whole.map((point) => show(kind, interval, point))
}

function show(kind: SeriesKind, interval: StatisticsInterval, { slot, values }: Point): Interval {
  const ms = slotsIn[interval] * SLOT_MS
  return { interval, fromMs: slot * ms, toMs: (slot + 1) * ms, values: shown(kind, values) }
}
