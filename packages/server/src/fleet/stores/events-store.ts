import type { AuditRecord } from '../../core/identity/audit-record.ts'
import type { ActionEvent } from '../../core/state/action-event.ts'
import { auditStore } from '../../identity/stores/audit-store.ts'
import { eventNumbersStore } from '../../store/event-numbers-store.ts'
import type { Db } from '../../store/open-store.ts'
import { actionEventsStore } from './action-events-store.ts'
import { changesStore } from './changes-store.ts'

/** An event and its place among all events of the cluster. */
export type StoredEvent = {
  readonly seq: number
  /** Null: it belongs to no database. */
  readonly databaseUid: number | null
  /** Approximate size in memory. */
  readonly size: number
} & (
  | {
      readonly topic: 'actions'
      readonly actionUid: string
      /** Undefined: its row is damaged. */
      readonly event: ActionEvent | undefined
    }
  | { readonly topic: 'databases'; readonly databaseUid: number }
  | { readonly topic: 'nodes'; readonly nodeUid: number; readonly data: string }
  | { readonly topic: 'audit'; readonly record: AuditRecord }
)

/** All events up to place `upTo`, in order. */
export interface EventsPage {
  readonly events: readonly StoredEvent[]
  readonly upTo: number
}

const SMALL = 200

export type EventsStore = ReturnType<typeof eventsStore>

/** All events of a cluster, in order, from three tables with one common counter. */
export function eventsStore(db: Db) {
  const [actions, audit, changes] = [actionEventsStore(db), auditStore(db), changesStore(db)]
  const numbers = eventNumbersStore(db)
  return {
    lastNumber: numbers.last,
    goneNumber: numbers.gone,
    /** About `limit` events after one place, at most up to another. */
    async between(after: number, upTo: number, limit: number): Promise<EventsPage> {
      const parts: readonly (readonly StoredEvent[])[] = [
        (await actions.between(after, upTo, limit)).map((one) => ({ ...one, topic: 'actions' })),
        (await audit.between(after, upTo, limit)).map(({ place, record }) => ({
          seq: place,
          topic: 'audit',
          record,
          size: SMALL + record.hash.length,
          databaseUid: record.databaseUid ?? null,
        })),
        (await changes.between(after, upTo, limit)).map(({ seq, topic, uid, data }) =>
          topic === 'nodes'
            ? { seq, topic, nodeUid: uid, databaseUid: null, data: data ?? '{}', size: SMALL }
            : { seq, topic, databaseUid: uid, size: SMALL },
        ),
      ]
      // A table with more rows is known only up to its last row here.
      const ends = parts.flatMap((part) => (part.length < limit ? [] : (part.at(-1)?.seq ?? [])))
      const end = Math.min(upTo, ...ends)
      const events = parts.flat().filter(({ seq }) => seq <= end)
      return { events: events.toSorted((a, b) => a.seq - b.seq), upTo: end }
    },
  }
}
