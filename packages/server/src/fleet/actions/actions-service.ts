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

/** An action as people see it: of a database, or of the catalogue of modules. */
export type ActionView = DatabaseActionView | { readonly of: 'module'; readonly action: ModuleAction }

/** Reads actions of databases and of the catalogue of modules alike; changes nothing. */
export interface Actions {
  /** Throws Refusal action_not_exist. */
  get(uid: string): Promise<ActionView>
  /** What clients saw of its handover number `n`, from 1 on. Throws Refusal trace_not_exist or trace_not_ready. */
  trace(uid: string, n: number): Promise<HandoverTrace>
  /** The database that an action is about; undefined where there is no such action of a database. */
  databaseOf(uid: string): Promise<number | undefined>
  /** Those that this user may see. */
  list(query: Omit<ActionsQuery, 'databases'>, user: Principal): Promise<readonly ActionView[]>
  /** Of one database. Throws Refusal db_not_exist. */
  listOf(databaseUid: number, query: Omit<ActionsQuery, 'databases'>): Promise<readonly ActionView[]>
  /**
   * The events of an action after number `seq` (0: from its beginning), those that come, each once and in order, until
   * the action has ended or `signal` aborts. No more is read than is taken.
   */
  follow(uid: string, seq: number, signal: AbortSignal): AsyncIterable<ActionEvent>
}

/** Reads from `store` at each call: it remembers nothing but the followers. */
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
      // Two lists become one: its page may begin anywhere in either.
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

/** Whether there may be actions of modules among those of this filter. They had ended when they were written, and are about no database. */
function hasModules({ status, phase, outcome, database, q }: ActionsFilter): boolean {
  const isCompleted = (status ?? 'done') === 'done' && (outcome ?? 'completed') === 'completed'
  return isCompleted && (phase ?? 'ended') === 'ended' && database === undefined && q === undefined
}

/** Where an action is in a list. */
export function placeOfAction(view: ActionView, by: ActionsOrder['by']): Place {
  const { createdAt, uid } = view.action
  const isChange = by === 'last_changed_time' && view.of === 'database'
  return { value: isChange ? view.action.changedAt : createdAt, uid }
}

/** Stands for all databases: only users that are not limited to some may see it. */
const NO_DATABASE = 0

function databasesOf(user: Principal): readonly number[] {
  return user.grants.flatMap(({ databases }) => databases ?? []).filter((uid) => maySee(user, uid))
}

function maySee(user: Principal, databaseUid: number): boolean {
  return may(user, 'view_status_of_cluster_action', databaseUid)
}
