import { Refusal } from '@fairlead/api'
import { may, type Principal } from '../core/access.ts'
import type { Action, Certificate } from '../core/action.ts'
import { type ActionEvent, hasEnded } from '../core/action-event.ts'
import { databasesStore } from '../databases/databases-store.ts'
import type { Store } from '../store/open-store.ts'
import { actionEventsStore } from './action-events-store.ts'
import { createActionFeed } from './action-feed.ts'
import { type ActionsQuery, actionsStore } from './actions-store.ts'
import { handoversStore } from './handovers-store.ts'

/** An action as people see it. */
export interface ActionView {
  readonly action: Action
  readonly certificates: readonly Certificate[]
}

export interface Actions {
  /** Throws Refusal action_not_exist. */
  get(uid: string): Promise<ActionView>
  /** Those that this user may see, the newest first. */
  list(query: Omit<ActionsQuery, 'databases'>, user: Principal): Promise<readonly ActionView[]>
  /** Of one database. Throws Refusal db_not_exist. */
  listOf(databaseUid: number, query: Omit<ActionsQuery, 'databases'>): Promise<readonly ActionView[]>
  /**
   * The events of an action after number `seq` (0: from its beginning), those that come, each once and in order, until
   * the action has ended or `signal` aborts. No more is read than is taken.
   */
  follow(uid: string, seq: number, signal: AbortSignal): AsyncIterable<ActionEvent>
}

/** Events in one query. */
const PAGE = 100

export function createActions({ store }: { readonly store: Store }): Actions {
  const actions = actionsStore(store.db)
  const handovers = handoversStore(store.db)
  const events = actionEventsStore(store.db)
  const databases = databasesStore(store.db)
  const feed = createActionFeed(store)

  const list = async (query: ActionsQuery): Promise<readonly ActionView[]> => {
    const found = await actions.list(query)
    const certificates = await handovers.certificatesOf(found.map(({ uid }) => uid))
    return found.map((action) => ({ action, certificates: certificates.get(action.uid) ?? [] }))
  }

  return {
    async get(uid) {
      const action = await actions.get(uid)
      if (action === undefined) throw new Refusal('action_not_exist', `action ${uid} does not exist`)
      return { action, certificates: await handovers.certificates(uid) }
    },

    list: (query, user) =>
      list({ ...query, ...(!maySee(user, NO_DATABASE) && { databases: databasesOf(user) }) }),

    async listOf(databaseUid, query) {
      if ((await databases.get(databaseUid)) === undefined) {
        throw new Refusal('db_not_exist', `database ${databaseUid} does not exist`)
      }
      return list({ ...query, databases: [databaseUid] })
    },

    async *follow(uid, seq, signal) {
      using watch = feed.watch(uid)
      let last = seq
      while (!signal.aborted) {
        // Asked first: what ended it is then among the events that are read.
        const action = await actions.get(uid)
        const page = await events.listAfter(uid, last, PAGE)
        for (const event of page) {
          if (signal.aborted) return
          yield event
          last = event.seq
        }
        if (page.length === PAGE) continue
        if (action === undefined || hasEnded(action)) return
        await watch.news(signal)
      }
    },
  }
}

/** Whoever may see this one is not limited to some. */
const NO_DATABASE = 0

function databasesOf(user: Principal): readonly number[] {
  return user.grants.flatMap(({ databases }) => databases ?? []).filter((uid) => maySee(user, uid))
}

function maySee(user: Principal, databaseUid: number): boolean {
  return may(user, 'view_status_of_cluster_action', databaseUid)
}
