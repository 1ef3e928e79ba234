import type { AuditEvent } from '../core/identity/audit-record.ts'
import { countEvent, isCounted, isOver, newTally, restOf } from '../core/identity/audit-tally.ts'
import type { Db, Store } from '../store/open-store.ts'
import { auditStore } from './audit-store.ts'

/**
 * Writes down events that a client can cause without limit: equal events of an hour are counted, see
 * core/identity/audit-tally.ts.
 */
export interface AuditCounter {
  /** Takes an event; in the transaction of what it is about. What is only counted writes nothing. */
  note(db: Db, event: AuditEvent): Promise<void>
  /** As `note`, of what belongs to no change of the store. */
  record(event: AuditEvent): Promise<void>
  /** Writes what was counted in an hour that is over; with `all`, in this one too. */
  flush(all: boolean): Promise<void>
}

/** Counts are in memory: a server that is killed loses up to nine tenths of a count, never the first events of a kind. */
export function createAuditCounter(store: Store, now: () => number): AuditCounter {
  let tally = newTally(now())
  const takeRest = (all: boolean): readonly AuditEvent[] => {
    if (!all && !isOver(tally, now())) return []
    const rest = restOf(tally)
    tally = newTally(now())
    return rest
  }
  const take = (event: AuditEvent): readonly AuditEvent[] => {
    if (!isCounted(event)) return [event]
    const rest = takeRest(false)
    const counted = countEvent(tally, event, now())
    tally = counted.tally
    return counted.record === null ? rest : [...rest, counted.record]
  }
  const write = async (db: Db, events: readonly AuditEvent[]) => {
    const at = new Date(now()).toISOString()
    for (const event of events) await auditStore(db).append(event, at)
  }
  const writeAlone = async (events: readonly AuditEvent[]) => {
    if (events.length > 0) await store.transaction((db) => write(db, events))
  }
  return {
    note: (db, event) => write(db, take(event)),
    record: (event) => writeAlone(take(event)),
    flush: (all) => writeAlone(takeRest(all)),
  }
}
