import { columns, type SeriesKind, stillOf, type Values } from './columns.ts'
import { type Point, slotOf } from './compose.ts'
import { describeLatencies, type Latencies } from './latency.ts'

/** One measurement of one thing, with the latencies of the requests since the one before. */
export interface Sample {
  readonly kind: SeriesKind
  readonly uid: number
  readonly values: Values
  readonly latencies: Latencies | null
}

/** The last two hours of everything that is measured. An idle thing takes no memory and no work. */
export interface Series {
  /** Records what was measured at this moment of the things that have worked since the last one. */
  take(atMs: number, samples: readonly Sample[]): void
  forget(kind: SeriesKind, uid: number): void
  /** The things with values, in order. */
  uids(kind: SeriesKind): readonly number[]
  /** The points from slot `from` to slot `to`, in order. A slot without a measurement has none. */
  points(kind: SeriesKind, uid: number, from: number, to: number): readonly Point[]
  last(kind: SeriesKind, uid: number): Point | null
  /** Bytes of all rings, and how many things lost theirs because there were too many. */
  readonly size: { readonly bytes: number; readonly dropped: number }
}

/** Two hours. */
const MOST_SLOTS = 720
/** Three hundred busy databases of two shards take 45 MB. */
const MOST_BYTES = 64 << 20

interface Thing {
  readonly kind: SeriesKind
  readonly uid: number
  /** When it was first seen, and its values then: all that is kept until it works. */
  readonly since: number
  readonly first: Values
  last: Values
  ring: Ring | null
  /** The slot in which it last worked. */
  workedAt: number
}

/** Starts empty. */
export function createSeries(mostBytes = MOST_BYTES): Series {
  const things = new Map<string, Thing>()
  const measured: number[] = []
  let dropped = 0
  const find = (kind: SeriesKind, uid: number) => things.get(`${kind} ${uid}`)
  const sizeOfAll = () => [...things.values()].reduce((sum, { ring }) => sum + (ring?.bytes ?? 0), 0)
  const shrink = () => {
    let left = sizeOfAll()
    if (left <= mostBytes) return
    for (const thing of [...things.values()].toSorted((a, b) => a.workedAt - b.workedAt)) {
      if (left <= mostBytes) return
      left -= thing.ring?.bytes ?? 0
      thing.ring = null
      dropped += 1
    }
  }
  return {
    take(atMs, samples) {
      const slot = slotOf(atMs)
      if (slot > (measured.at(-1) ?? -1)) measured.push(slot)
      if (measured.length > MOST_SLOTS) measured.shift()
      for (const sample of samples) {
        const { kind, uid, values } = sample
        const thing = find(kind, uid) ?? thingOf(sample, slot)
        things.set(`${kind} ${uid}`, thing)
        takeSample(thing, sample, slot)
        thing.last = { ...values, ...describeLatencies(sample.latencies) }
      }
      shrink()
    },
    forget: (kind, uid) => void things.delete(`${kind} ${uid}`),
    uids: (kind) =>
      [...things.values()]
        .filter((thing) => thing.kind === kind)
        .map(({ uid }) => uid)
        .toSorted((a, b) => a - b),
    points(kind, uid, from, to) {
      const thing = find(kind, uid)
      if (thing === undefined) return []
      const slots = measured.filter((slot) => slot >= Math.max(from, thing.since) && slot <= to)
      return slots.map((slot) => {
        const found = thing.ring?.at(slot) ?? { slot: thing.since - 1, values: thing.first }
        return { slot, values: found.slot === slot ? found.values : stillOf(found.values) }
      })
    },
    last(kind, uid) {
      const thing = find(kind, uid)
      const slot = measured.at(-1)
      if (thing === undefined || slot === undefined) return null
      return { slot, values: thing.workedAt === slot ? thing.last : stillOf(thing.last) }
    },
    get size() {
      return { bytes: sizeOfAll(), dropped }
    },
  }
}

function thingOf({ kind, uid, values }: Sample, slot: number): Thing {
  return { kind, uid, since: slot, first: values, last: values, ring: null, workedAt: slot }
}

/** Writes the sample into the ring, which begins with the first sample that is not idle. */
function takeSample(thing: Thing, { values, latencies }: Sample, slot: number): void {
  thing.workedAt = slot
  if (thing.ring === null && isStill(values, latencies)) return
  thing.ring ??= createRing(columns[thing.kind], MOST_SLOTS)
  thing.ring.write(slot, { ...values, ...describeLatencies(latencies) })
}

function isStill(values: Values, latencies: Latencies | null): boolean {
  const still = stillOf(values)
  return latencies === null && Object.entries(values).every(([name, value]) => still[name] === value)
}

/** The last intervals in which a thing worked. It grows as it is filled. */
interface Ring {
  /** A later slot than all before, or the last one again. */
  write(slot: number, values: Values): void
  /** Returns the value written for this slot, or for the last one before it; null: none. */
  at(slot: number): { readonly slot: number; readonly values: Values } | null
  readonly bytes: number
}

const FIRST_ROWS = 4

/** Empty. It keeps the last `most` rows; values lose what goes beyond seven digits. */
export function createRing(names: readonly string[], most: number): Ring {
  let slots = new Uint32Array(FIRST_ROWS)
  let cells = new Float32Array(FIRST_ROWS * names.length)
  let [first, rows] = [0, 0]

  const grow = () => {
    const capacity = Math.min(most, slots.length * 2)
    const [moreSlots, moreCells] = [new Uint32Array(capacity), new Float32Array(capacity * names.length)]
    moreSlots.set(slots)
    moreCells.set(cells)
    slots = moreSlots
    cells = moreCells
  }
  const placeOf = (row: number) => (first + row) % slots.length
  const slotAt = (row: number) => slots[placeOf(row)] ?? 0
  return {
    write(slot, values) {
      const isSame = rows > 0 && slotAt(rows - 1) === slot
      if (!isSame) {
        // It begins to go round only when it has its full length.
        if (rows === slots.length && rows < most) grow()
        if (rows === slots.length) first = (first + 1) % slots.length
        else rows += 1
      }
      const place = placeOf(rows - 1)
      slots[place] = slot
      for (const [n, name] of names.entries()) cells[place * names.length + n] = values[name] ?? Number.NaN
    },
    at(slot) {
      let [low, high] = [0, rows]
      while (low < high) {
        const middle = (low + high) >> 1
        if (slotAt(middle) <= slot) low = middle + 1
        else high = middle
      }
      if (low === 0) return null
      const place = placeOf(low - 1)
      const found = names.map((name, n) => [name, cells[place * names.length + n] ?? Number.NaN] as const)
      return {
        slot: slotAt(low - 1),
        values: Object.fromEntries(found.filter(([, value]) => !Number.isNaN(value))),
      }
    },
    get bytes() {
      return slots.byteLength + cells.byteLength
    },
  }
}
