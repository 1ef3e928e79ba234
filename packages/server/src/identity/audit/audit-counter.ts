import type { AuditEvent } from '../../core/identity/audit-record.ts'
import { countEvent, isCounted, isOver, newTally, restOf } from '../../core/identity/audit-tally.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { auditStore } from '../stores/audit-store.ts'

/**
 * Writes down events that a client can cause without limit: equal events of an hour are counted, see
 * core/identity/audit-tally.ts.
 */
export interface AuditCounter {
  /**
   * Runs `work` whole or not at all, as a transaction of the store does, which may begin it anew. It notes its events; each of them counts once. What is
   * only counted writes nothing.
   */
  transaction<T>(work: (db: Db, note: Note) => Promise<T>): Promise<T>
  /** Notes an event that belongs to no change of the store. */
  record(event: AuditEvent): Promise<void>
  /** Writes the counts of hours that are over; with `all`, also of the present hour. */
  flush(all: boolean): Promise<void>
}

/** Writes an event down in a transaction, or only counts it. */
export type Note = (event: AuditEvent) => Promise<void>

/** Counts are in memory: a server that is killed loses up to nine tenths of a count, never the first events of a kind. */
export function createAuditCounter(store: Store, now: () => number): AuditCounter {
  let tally = newTally(now())
  /** What was counted in an hour that is over, and is not on record yet. */
  let unwritten: readonly AuditEvent[] = []
  const endHour = (all: boolean) => {
    if (!all && !isOver(tally, now())) return
    unwritten = [...unwritten, ...restOf(tally)]
    tally = newTally(now())
  }
  const count = (event: AuditEvent): readonly AuditEvent[] => {
    if (!isCounted(event)) return [event]
    endHour(false)
    const counted = countEvent(tally, event, now())
    tally = counted.tally
    return counted.record === null ? [] : [counted.record]
  }
  const write = async (db: Db, events: readonly AuditEvent[]) => {
    const at = new Date(now()).toISOString()
    for (const event of events) await auditStore(db).append(event, at)
  }
  /** Of several transactions at once, one writes it. Where that fails, a later one does. */
  const withUnwritten = async <T>(work: (events: readonly AuditEvent[]) => Promise<T>): Promise<T> => {
    const own = unwritten
    unwritten = []
    try {
      return await work(own)
    } catch (cause) {
      unwritten = [...own, ...unwritten]
      throw cause
    }
  }
  const transaction: AuditCounter['transaction'] = (work) => {
    const known = new Map<string, readonly AuditEvent[]>()
    return withUnwritten((rest) =>
      store.transaction(async (db) => {
        await write(db, rest)
        return work(db, async (event) => {
          const key = JSON.stringify(event)
          const records = known.get(key) ?? count(event)
          known.set(key, records)
          await write(db, records)
        })
      }),
    )
  }
  return {
    transaction,
    async record(event) {
      const records = count(event)
      if (records.length > 0) await transaction((db) => write(db, records))
    },
    async flush(all) {
      endHour(all)
      if (unwritten.length > 0) await transaction(async () => undefined)
    },
  }
}
