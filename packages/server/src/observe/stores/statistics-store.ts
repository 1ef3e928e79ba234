import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Db } from '../../store/open-store.ts'

/** The intervals of which something is stored. */
export type StoredInterval = '5min' | '1hour'

/** An interval that has ended, with the things that worked in it. */
export interface Closed {
  readonly interval: StoredInterval
  /** Its number, counted from 1970. */
  readonly slot: number
  readonly points: readonly {
    readonly kind: 'bdb' | 'shard' | 'node'
    readonly uid: number
    readonly values: Readonly<Record<string, number>>
  }[]
}

/** Intervals that have ended: one row for each, however many databases there are. */
export interface StatisticsStore {
  /** Another server may have written it. What came before `keepFrom` of this length is deleted. */
  add(closed: Closed, keepFrom: number): Promise<void>
  /** One row at a time, the oldest first; rows that cannot be read are left out. */
  read(interval: StoredInterval, from: number): AsyncIterable<Closed>
}

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)
/** What one row may be when it is expanded: ten thousand databases that all work take a third. */
const MOST_BYTES = 64 << 20
const ROWS_AT_ONCE = 20

/** Rows of `statistics`, through `db`, which may be a transaction. */
export function statisticsStore(db: Db): StatisticsStore {
  return {
    async add({ interval, slot, points }, keepFrom) {
      const text = (await compress(JSON.stringify(points.map(short)))).toString('base64')
      await db
        .insertInto('statistics')
        .values({ resolution: interval, slot, points: text })
        .onConflict((conflict) => conflict.columns(['resolution', 'slot']).doNothing())
        .execute()
      await db
        .deleteFrom('statistics')
        .where('resolution', '=', interval)
        .where('slot', '<', keepFrom)
        .execute()
    },
    async *read(interval, from) {
      for (let after = from - 1; ; ) {
        const rows = await db
          .selectFrom('statistics')
          .select(['slot', 'points'])
          .where('resolution', '=', interval)
          .where('slot', '>', after)
          .orderBy('slot')
          .limit(ROWS_AT_ONCE)
          .execute()
        for (const { slot, points } of rows) {
          after = slot
          const read = await pointsIn(points)
          if (read !== null) yield { interval, slot, points: read }
        }
        if (rows.length < ROWS_AT_ONCE) return
      }
    },
  }
}

/** Seven digits are kept in memory, too. */
function short({ kind, uid, values }: Closed['points'][number]) {
  const shortened = Object.entries(values).map(([name, value]) => [name, Number(value.toPrecision(7))])
  return [kind, uid, Object.fromEntries(shortened)]
}

/** A row that was damaged costs one interval, and nothing else. */
async function pointsIn(text: string): Promise<Closed['points'] | null> {
  try {
    const bytes = await expand(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES })
    const read: unknown = JSON.parse(bytes.toString('utf8'))
    return Array.isArray(read) ? read.flatMap(pointOf) : null
  } catch {
    return null
  }
}

function pointOf(read: unknown): Closed['points'] {
  if (!Array.isArray(read)) return []
  const [kind, uid, values] = read as unknown[]
  if (kind !== 'bdb' && kind !== 'shard' && kind !== 'node') return []
  if (!Number.isSafeInteger(uid) || typeof values !== 'object' || values === null) return []
  const numbers = Object.entries(values).filter(([, value]) => typeof value === 'number')
  return [{ kind, uid: Number(uid), values: Object.fromEntries(numbers) }]
}
