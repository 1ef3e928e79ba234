import type { AuditRecord } from '../../core/identity/audit-record.ts'
import type { ActionEvent } from '../../core/state/action-event.ts'
import { auditStore } from '../../identity/stores/audit-store.ts'
import { eventNumbersStore } from '../../store/event-numbers-store.ts'
import type { Db } from '../../store/open-store.ts'
import { actionEventsStore } from './action-events-store.ts'
import { changesStore } from './changes-store.ts'

/** Something that happened, at its place among all events of the cluster. */
export type StoredEvent = {
  readonly seq: number
  /** Null: it is about no database. */
  readonly databaseUid: number | null
  /** About how much of memory it takes. */
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

/** Some events in order: all up to place `upTo`, and none after it. */
export interface EventsPage {
  readonly events: readonly StoredEvent[]
  readonly upTo: number
}

/** What happens in a cluster, in order. */
export interface EventsStore {
  lastNumber(): Promise<number>
  goneNumber(): Promise<number>
  /** Events after one place, at the most up to another: about `limit`. */
  between(after: number, upTo: number, limit: number): Promise<EventsPage>
}

const SMALL = 200

/** All that happens, from three tables whose rows have their places from one counter. */
export function eventsStore(db: Db): EventsStore {
  const [actions, audit, changes] = [actionEventsStore(db), auditStore(db), changesStore(db)]
  const numbers = eventNumbersStore(db)
  return {
    lastNumber: numbers.last,
    goneNumber: numbers.gone,
    async between(after, upTo, limit) {
      const parts: readonly (readonly StoredEvent[])[] = [
        (await actions.between(after, upTo, limit)).map((one) => ({ ...one, topic: 'actions' })),
        (await audit.between(after, upTo, limit)).map(({ place, record }) => ({
          ...{ seq: place, topic: 'audit', record, size: SMALL + record.hash.length },
          databaseUid: record.databaseUid ?? null,
        })),
        (await changes.between(after, upTo, limit)).map(({ seq, topic, uid, data }) =>
          topic === 'nodes'
            ? { seq, topic, nodeUid: uid, databaseUid: null, data: data ?? '{}', size: SMALL }
            : { seq, topic, databaseUid: uid, size: SMALL },
        ),
      ]
      // Of a table that has more, it is known only up to its last row here.
      const ends = parts.flatMap((part) => (part.length < limit ? [] : (part.at(-1)?.seq ?? [])))
      const end = Math.min(upTo, ...ends)
      const events = parts.flat().filter(({ seq }) => seq <= end)
      return { events: events.toSorted((a, b) => a.seq - b.seq), upTo: end }
    },
  }
}
