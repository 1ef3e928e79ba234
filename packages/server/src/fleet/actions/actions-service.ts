import { type HandoverTrace, Refusal } from '@fairlead/api'
import { may, type Principal } from '../../core/identity/access.ts'
import type { ModuleAction } from '../../core/modules/module-action.ts'
import type { ActionsFilter, ActionsOrder } from '../../core/requests/actions-order.ts'
import { type Place, pageInMemory } from '../../core/requests/list-order.ts'
import type { ActionEvent } from '../../core/state/action-event.ts'
import type { Store } from '../../store/open-store.ts'
import { createEventFeed, type EventFeed } from '../events/event-feed.ts'
import { actionEventsStore } from '../stores/action-events-store.ts'
import { actionsStore } from '../stores/actions-store.ts'
import type { ActionsQuery } from '../stores/chosen-actions-store.ts'
import { databasesStore } from '../stores/databases-store.ts'
import { moduleActionsStore } from '../stores/module-actions-store.ts'
import { createDatabaseViews, type DatabaseActionView } from './database-views.ts'
import { followAction } from './follow-action.ts'
import { readTrace } from './read-trace.ts'

/** An action of a database or of the catalogue of modules. */
export type ActionView = DatabaseActionView | { readonly of: 'module'; readonly action: ModuleAction }

/** Reads actions of databases and of the catalogue of modules. */
export interface Actions {
  /** Throws Refusal action_not_exist. */
  get(uid: string): Promise<ActionView>
  /** Clients' view of handover `n` (from 1 on). Throws Refusal trace_not_exist or trace_not_ready. */
  trace(uid: string, n: number): Promise<HandoverTrace>
  /** The database of an action; undefined: there is no such action of a database. */
  databaseOf(uid: string): Promise<number | undefined>
  /** Actions that this user may see. */
  list(query: Omit<ActionsQuery, 'databases'>, user: Principal): Promise<readonly ActionView[]>
  /** Actions of one database. Throws Refusal db_not_exist. */
  listOf(databaseUid: number, query: Omit<ActionsQuery, 'databases'>): Promise<readonly ActionView[]>
  /**
   * Yields the events of an action after number `seq` (0: all), each once and in order, until its end or
   * `signal` aborts. Reads no more than is consumed.
   */
  follow(uid: string, seq: number, signal: AbortSignal): AsyncIterable<ActionEvent>
}

/** Reads from `store` on each call; remembers only followers. */
export function createActions({
  store,
  now = Date.now,
  feed = createEventFeed(store),
}: {
  readonly store: Store
  readonly feed?: EventFeed
  /** Unix milliseconds. */
  readonly now?: () => number
}): Actions {
  const actions = actionsStore(store.db)
  const ofModules = moduleActionsStore(store.db)
  const events = actionEventsStore(store.db)
  const databases = databasesStore(store.db)

  const views = createDatabaseViews(store.db, now)
  const list = async (query: ActionsQuery): Promise<readonly ActionView[]> =>
    views.all(await actions.list(query))

  return {
    async get(uid) {
      const action = await actions.get(uid)
      if (action !== undefined) return views.one(action)
      const ofModule = await ofModules.get(uid)
      if (ofModule !== undefined) return { of: 'module', action: ofModule }
      throw new Refusal('action_not_exist', `action ${uid} does not exist`)
    },

    trace: (uid, n) => readTrace({ uid, n }, store.db, now()),

    databaseOf: async (uid) => (await actions.get(uid))?.databaseUid,

    async list(query, user) {
      if (!maySee(user, NO_DATABASE)) return list({ ...query, databases: databasesOf(user) })
      // Merges two lists: a page may begin anywhere in either.
      const { limit, offset = 0, after: _, ...page } = query
      const beginning = { ...query, offset: 0, ...(limit !== undefined && { limit: offset + limit }) }
      const added = hasModules(query) ? await ofModules.list(beginning) : []
      if (added.length === 0) return list(query)
      const found = [
        ...(await list(beginning)),
        ...added.map((action) => ({ of: 'module' as const, action })),
      ]
      return pageInMemory(found, { ...page, offset, ...(limit !== undefined && { limit }) }, placeOfAction)
    },

    async listOf(databaseUid, query) {
      if ((await databases.get(databaseUid)) === undefined) {
        throw new Refusal('db_not_exist', `database ${databaseUid} does not exist`)
      }
      return list({ ...query, databases: [databaseUid] })
    },

    follow: (uid, seq, signal) => followAction({ actions, events, feed }, uid, seq, signal),
  }
}

/** Returns whether the filter can match actions of modules: complete when recorded, without a database. */
function hasModules({ status, phase, outcome, database, q }: ActionsFilter): boolean {
  const isCompleted = (status ?? 'done') === 'done' && (outcome ?? 'completed') === 'completed'
  return isCompleted && (phase ?? 'ended') === 'ended' && database === undefined && q === undefined
}

/** The place of an action in a list. */
export function placeOfAction(view: ActionView, by: ActionsOrder['by']): Place {
  const { createdAt, uid } = view.action
  const isChange = by === 'last_changed_time' && view.of === 'database'
  return { value: isChange ? view.action.changedAt : createdAt, uid }
}

/** Means all databases: hidden from users limited to some. */
const NO_DATABASE = 0

function databasesOf(user: Principal): readonly number[] {
  return user.grants.flatMap(({ databases }) => databases ?? []).filter((uid) => maySee(user, uid))
}

function maySee(user: Principal, databaseUid: number): boolean {
  return may(user, 'view_status_of_cluster_action', databaseUid)
}
