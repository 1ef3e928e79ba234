import { type KeptInterval, keptIntervals } from '@fairlead/api'
import type { Closed, StoredInterval } from '../stores/statistics-store.ts'
import { columns, type SeriesKind, stillOf, type Values } from './columns.ts'
import { addLatencies, describeLatencies, type Latencies } from './latency.ts'
import { resolutions, slotOf, storedIntervals } from './resolutions.ts'
import { createRing, type Ring } from './ring.ts'

/** What was measured at one moment of one thing; latencies of the requests since the moment before. */
export interface Sample {
  readonly kind: SeriesKind
  readonly uid: number
  readonly values: Values
  readonly latencies: Latencies | null
}

/** One interval of one thing. */
export interface Point {
  readonly slot: number
  readonly values: Values
}

/** Values of everything that is measured, in intervals of several lengths. A thing in which nothing happens takes no room and no work. */
export interface Series {
  /** What was seen at this moment of the things that have worked since the last; the intervals that ended with it. */
  take(atMs: number, samples: readonly Sample[]): readonly Closed[]
  /** Intervals of an earlier process, the oldest first. */
  restore(closed: Closed): void
  forget(kind: SeriesKind, uid: number): void
  /** Those of which something is known, in order. */
  uids(kind: SeriesKind): readonly number[]
  /** In order. Where it was not measured, as while no server ran, there is no interval. */
  points(kind: SeriesKind, uid: number, interval: KeptInterval, from: number, to: number): readonly Point[]
  last(kind: SeriesKind, uid: number): Point | null
  /** Bytes of all rings, and how many things lost theirs because there were too many. */
  readonly size: { readonly bytes: number; readonly dropped: number }
}

/** Three hundred databases of two shards, all at work for a week, take 40 MB. */
const MOST_BYTES = 64 << 20

interface Thing {
  readonly kind: SeriesKind
  readonly uid: number
  /** When it was first seen, and as what. While it never worked, that is all there is of it. */
  since: number
  first: Values
  last: Values
  rings: Partial<Record<KeptInterval, Ring>>
  /** When it last worked, in slots of the finest interval. */
  workedAt: number
}

interface Sum {
  values: Record<string, number>
  looks: number
  latencies: Latencies | null
}

/** The interval that has not ended yet. */
interface Open {
  slot: number
  looks: number
  readonly sums: Map<Thing, Sum>
}

/** All of a series. */
interface State {
  readonly things: Map<string, Thing>
  readonly measured: ReadonlyMap<KeptInterval, number[]>
  readonly open: Map<StoredInterval, Open>
  dropped: number
}

/** Nothing was measured yet. */
export function createSeries(mostBytes = MOST_BYTES): Series {
  const state: State = {
    things: new Map(),
    measured: new Map(keptIntervals.map((interval) => [interval, []])),
    open: new Map(),
    dropped: 0,
  }
  const { things, measured, open } = state
  const find = (kind: SeriesKind, uid: number) => things.get(`${kind} ${uid}`)
  return {
    take(atMs, samples) {
      const closed = storedIntervals.flatMap((interval) => endBefore(interval, slotOf(interval, atMs), open))
      for (const each of closed) keep(each, state, find)
      if (closed.length > 0) shrink(state, mostBytes)
      note(measured, '10sec', slotOf('10sec', atMs))
      for (const interval of storedIntervals) countLook(open, interval, slotOf(interval, atMs))
      for (const sample of samples) takeSample(sample, atMs, state)
      return closed
    },
    restore: (closed) => keep(closed, state, (kind, uid) => thingOf(things, kind, uid)),
    forget(kind, uid) {
      const thing = find(kind, uid)
      if (thing === undefined) return
      things.delete(`${kind} ${uid}`)
      for (const { sums } of open.values()) sums.delete(thing)
    },
    uids: (kind) =>
      [...things.values()]
        .filter((thing) => thing.kind === kind && thing.workedAt > 0)
        .map(({ uid }) => uid)
        .toSorted((a, b) => a - b),
    points(kind, uid, interval, from, to) {
      const thing = find(kind, uid)
      if (thing === undefined) return []
      const slots = (measured.get(interval) ?? []).filter((slot) => slot >= from && slot <= to)
      return slots.flatMap((slot) => {
        const found = thing.rings[interval]?.at(slot) ?? firstOf(thing, interval)
        if (found.slot > slot) return []
        return [{ slot, values: found.slot === slot ? found.values : stillOf(found.values) }]
      })
    },
    last(kind, uid) {
      const thing = find(kind, uid)
      const slot = measured.get('10sec')?.at(-1)
      if (thing === undefined || slot === undefined || thing.workedAt === 0) return null
      return { slot, values: thing.workedAt === slot ? thing.last : stillOf(thing.last) }
    },
    get size() {
      return { bytes: sizeOf(things), dropped: state.dropped }
    },
  }
}

function thingOf(things: State['things'], kind: SeriesKind, uid: number): Thing {
  const known = things.get(`${kind} ${uid}`)
  if (known !== undefined) return known
  const nothing = { since: Number.POSITIVE_INFINITY, first: {}, last: {}, rings: {}, workedAt: 0 }
  const thing: Thing = { kind, uid, ...nothing }
  things.set(`${kind} ${uid}`, thing)
  return thing
}

function takeSample({ kind, uid, values, latencies }: Sample, atMs: number, { things, open }: State): void {
  const thing = thingOf(things, kind, uid)
  const slot = slotOf('10sec', atMs)
  if (thing.since > atMs) Object.assign(thing, { since: atMs, first: values })
  thing.workedAt = slot
  if (thing.rings['10sec'] === undefined && isStill(values, latencies)) {
    thing.last = values
    return
  }
  for (const interval of storedIntervals) addTo(open.get(interval), thing, values, latencies)
  thing.last = { ...values, ...describeLatencies(latencies) }
  write(thing, '10sec', { slot, values: thing.last })
}

/** An interval that has ended. */
function keep(
  { interval, slot, points }: Closed,
  { measured }: State,
  find: (kind: SeriesKind, uid: number) => Thing | undefined,
): void {
  note(measured, interval, slot)
  for (const { kind, uid, values } of points) {
    const thing = find(kind, uid)
    if (thing !== undefined) write(thing, interval, { slot, values })
  }
}

function write(thing: Thing, interval: KeptInterval, { slot, values }: Point): void {
  const ring = thing.rings[interval] ?? createRing(columns[thing.kind], resolutions[interval].most)
  thing.rings[interval] = ring
  ring.write(slot, values)
}

function shrink(state: State, mostBytes: number): void {
  let left = sizeOf(state.things)
  if (left <= mostBytes) return
  for (const thing of [...state.things.values()].toSorted((a, b) => a.workedAt - b.workedAt)) {
    if (left <= mostBytes) return
    left -= bytesOf(thing.rings)
    thing.rings = {}
    state.dropped += 1
  }
}

function sizeOf(things: State['things']): number {
  return [...things.values()].reduce((sum, { rings }) => sum + bytesOf(rings), 0)
}

/** As it was before it worked for the first time. */
function firstOf({ since, first }: Thing, interval: KeptInterval): Point {
  return { slot: Math.ceil(since / resolutions[interval].ms) - 0.5, values: first }
}

function isStill(values: Values, latencies: Latencies | null): boolean {
  const still = stillOf(values)
  return latencies === null && Object.entries(values).every(([name, value]) => still[name] === value)
}

function bytesOf(rings: Thing['rings']): number {
  return Object.values(rings).reduce((sum, ring) => sum + ring.bytes, 0)
}

function note(measured: ReadonlyMap<KeptInterval, number[]>, interval: KeptInterval, slot: number): void {
  const slots = measured.get(interval)
  if (slots === undefined || (slots.at(-1) ?? -1) >= slot) return
  slots.push(slot)
  if (slots.length > resolutions[interval].most) slots.shift()
}

function countLook(open: Map<StoredInterval, Open>, interval: StoredInterval, slot: number): void {
  const now = open.get(interval) ?? { slot, looks: 0, sums: new Map() }
  now.looks += 1
  open.set(interval, now)
}

function addTo(interval: Open | undefined, thing: Thing, values: Values, latencies: Latencies | null): void {
  if (interval === undefined) return
  const sum = interval.sums.get(thing) ?? { values: {}, looks: 0, latencies: null }
  interval.sums.set(thing, sum)
  addStill(sum, thing, interval.looks - 1)
  addValues(sum, values, 1)
  sum.latencies = addLatencies(sum.latencies, latencies)
}

/** Up to this look nothing has happened since the last one that was counted. */
function addStill(sum: Sum, { last }: Thing, looks: number): void {
  const missing = looks - sum.looks
  if (missing <= 0) return
  // Before anything is known of it, it was not there.
  if (Object.keys(last).length === 0) sum.looks += missing
  else addValues(sum, stillOf(last), missing)
}

function addValues(sum: Sum, values: Values, looks: number): void {
  for (const [name, value] of Object.entries(values))
    sum.values[name] = (sum.values[name] ?? 0) + value * looks
  sum.looks += looks
}

/** The open interval, if this is a later one. */
function endBefore(
  interval: StoredInterval,
  slot: number,
  open: Map<StoredInterval, Open>,
): readonly Closed[] {
  const ended = open.get(interval)
  if (ended === undefined || ended.slot >= slot) return []
  open.delete(interval)
  const points = [...ended.sums].map(([thing, sum]) => {
    addStill(sum, thing, ended.looks)
    const means = Object.entries(sum.values).map(([name, value]) => [name, value / sum.looks])
    const values: Values = { ...Object.fromEntries(means), ...describeLatencies(sum.latencies) }
    return { kind: thing.kind, uid: thing.uid, values }
  })
  return [{ interval, slot: ended.slot, points }]
}
