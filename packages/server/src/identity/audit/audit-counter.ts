import type { AuditEvent } from '../../core/identity/audit-record.ts'
import { countEvent, isCounted, isOver, newTally, restOf } from '../../core/identity/audit-tally.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { auditStore } from '../stores/audit-store.ts'

/** Records events that a client can cause without limit: see core/identity/audit-tally.ts. */
export interface AuditCounter {
  /**
   * Runs `work` as a transaction of the store, which may run it again. Each event that it notes is counted
   * once.
   * Events that are only counted cause no write.
   */
  transaction<T>(work: (db: Db, note: Note) => Promise<T>): Promise<T>
  /** Records an event that belongs to no change of the store. */
  record(event: AuditEvent): Promise<void>
  /** Writes the counts of hours that are over; with `all`, also the count of the present hour. */
  flush(all: boolean): Promise<void>
}

/** Writes an event in a transaction, or only counts it. */
export type Note = (event: AuditEvent) => Promise<void>

/** The counts are in memory: a killed server loses at most nine tenths of a count, but no first events. */
export function createAuditCounter(store: Store, now: () => number): AuditCounter {
  let tally = newTally(now())
  /** These are the counts of past hours that are not recorded yet. */
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
  /** If several transactions run in parallel, one writes the counts; if it fails, a later one does. */
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
