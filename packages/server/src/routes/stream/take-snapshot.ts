import type { ClusterEvent, EventTopic } from '@fairlead/api'
import { codeOf } from '@fairlead/engine'
import { databasesFor, mayWatch, type Principal } from '../../core/identity/access.ts'
import type { Place } from '../../core/requests/list-order.ts'
import type { ActionEvent } from '../../core/state/action-event.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import { actionEventsStore, mergeEvents } from '../../fleet/stores/action-events-store.ts'
import { actionsStore } from '../../fleet/stores/actions-store.ts'
import { changesStore } from '../../fleet/stores/changes-store.ts'
import type { Store } from '../../store/open-store.ts'
import { showWithoutSecrets } from '../fleet/database-wire.ts'
import { actionEventToWire, nodeToWire } from './event-wire.ts'

/** The request of a follower. `database` undefined: all. */
export interface Asked {
  readonly topics: ReadonlySet<EventTopic>
  readonly database: number | undefined
}

const PAGE = 100

/**
 * Yields the state visible to this user: running actions, databases, nodes. An action's state is the sum of
 * its events up to `upTo`.
 */
export async function* takeSnapshot(
  { store, databases }: { readonly store: Store; readonly databases: Pick<Databases, 'list'> },
  { topics, database }: Asked,
  user: Principal,
  upTo: number,
): AsyncGenerator<ClusterEvent, void, undefined> {
  if (topics.has('actions')) yield* runningActions(store, database, user, upTo)
  if (topics.has('databases')) {
    const own = databasesFor(user, 'view_all_bdbs_info')
    const only = database === undefined ? own : (own ?? [database]).filter((uid) => uid === database)
    yield* allDatabases(databases, only)
  }
  if (topics.has('nodes') && database === undefined) {
    for (const { uid, data } of await changesStore(store.db).nodes())
      yield nodeToWire(uid, data ?? '{}', undefined)
  }
}

/** Each page begins after the previous one's last entry, so that deletions hide no entry. */
async function* allDatabases(
  databases: Pick<Databases, 'list'>,
  only: readonly number[] | null,
): AsyncGenerator<ClusterEvent, void, undefined> {
  let after: Place | undefined
  for (;;) {
    const page = await databases.list({ limit: PAGE, after, only })
    for (const view of page)
      yield { type: 'database', bdb_uid: view.database.uid, database: showWithoutSecrets(view) }
    const last = page.at(-1)?.database.uid
    if (last === undefined || page.length < PAGE) return
    after = { value: last, uid: last }
  }
}

async function* runningActions(
  { db }: Store,
  database: number | undefined,
  user: Principal,
  upTo: number,
): AsyncGenerator<ClusterEvent, void, undefined> {
  for (const { uid, databaseUid } of await actionsStore(db).listActive()) {
    if (database !== undefined && databaseUid !== database) continue
    if (!mayWatch(user, 'actions', databaseUid)) continue
    const events = (await eventsOf(uid, db)).filter(({ seq }) => seq <= upTo)
    const last = events.at(-1)
    if (last === undefined) continue
    const { change, lanes } = mergeEvents(events)
    const place = { seq: last.seq, actionUid: uid, at: last.at }
    yield actionEventToWire({ ...place, type: 'action', change }, databaseUid, undefined)
    if (lanes.length > 0) yield actionEventToWire({ ...place, type: 'lanes', lanes }, databaseUid, undefined)
  }
}

/** All stored events of an action. Actions with damaged rows are omitted, for the sake of others. */
async function eventsOf(uid: string, db: Store['db']): Promise<readonly ActionEvent[]> {
  try {
    return await actionEventsStore(db).listAfter(uid, 0, Number.MAX_SAFE_INTEGER)
  } catch (cause) {
    if (codeOf(cause) === 'STORE_AWAY') throw cause
    return []
  }
}
