import {
  cancelAction,
  finalizeAction,
  followAction,
  getAction,
  getActionV2,
  getHandoverTrace,
  type Input,
  listActions,
  listActionsV2,
  listDatabaseActions,
  pauseAction,
  Refusal,
  redoAction,
  resumeAction,
  retryAction,
  rollbackAction,
} from '@fairlead/api'
import { actorOf, type Caller, may } from '../../core/identity/access.ts'
import type { ActionsOrder } from '../../core/requests/list-order.ts'
import type { Order } from '../../core/requests/resolve-order.ts'
import type { ActionStatus } from '../../core/state/action.ts'
import type { ActionEvent } from '../../core/state/action-event.ts'
import { type Actions, type ActionView, placeOfAction } from '../../fleet/actions/actions-service.ts'
import type { Orders } from '../../fleet/actions/orders-service.ts'
import { listPages } from '../../http/list-pages.ts'
import type { Mount } from '../../http/mount.ts'
import { eventToWire, fromStatus, fromStatusV2, toWire, toWireV2 } from './action-wire.ts'

/**
 * Serves actions, and orders to a running upgrade, which are carried out later. Refuses with `forbidden` if
 * the caller's roles exclude the database.
 */
export function actionsRoutes(mount: Mount, actions: Actions, orders: Orders): void {
  /** An action visible to the caller. */
  const show = async (uid: string, caller: Pick<Caller, 'user'>): Promise<ActionView> => {
    const view = await actions.get(uid)
    if (!maySee(view, caller)) {
      const what = view.of === 'module' ? 'the catalogue' : 'a database'
      throw new Refusal('forbidden', `the action is about ${what}, which your role may not see`)
    }
    return view
  }

  mount(listActions, async ({ query }, { user }) => {
    const { entries, next } = pageOf(await actions.list(readQuery(query, fromStatus), user), query)
    return { entries: { actions: [], 'state-machines': entries.map((view) => toWire(view, user)) }, next }
  })

  mount(listActionsV2, async ({ query }, { user }) => {
    const { entries, next } = pageOf(await actions.list(readQuery(query, fromStatusV2), user), query)
    return { entries: entries.map(toWireV2), next }
  })

  mount(listDatabaseActions, async ({ params, query }, { user }) => {
    const { entries, next } = pageOf(await actions.listOf(params.uid, readQuery(query, fromStatus)), query)
    return { entries: entries.map((view) => toWire(view, user)), next }
  })

  mount(getAction, async ({ params }, caller) => toWire(await show(params.uid, caller), caller.user))

  mount(getHandoverTrace, async ({ params: { uid, n } }, caller) => {
    await show(uid, caller)
    return actions.trace(uid, n)
  })

  mount(getActionV2, async ({ params }, caller) => toWireV2(await show(params.uid, caller)))

  mount(followAction, async ({ params }, caller) => {
    const view = await show(params.uid, caller)
    return {
      admits: (asker) => maySee(view, asker),
      async *events(last, signal) {
        for await (const event of actions.follow(params.uid, last?.seq ?? 0, signal)) yield wireOf(event)
      },
    }
  })

  const give = async (order: Order, uid: string, caller: Caller) => {
    const view = await actions.get(uid)
    if (view.of === 'module') throw new Refusal('action_ended', `action ${uid} has ended`)
    const { action } = view
    if (!may(caller.user, 'update_bdb_with_action', action.databaseUid)) {
      throw new Refusal('forbidden', 'the action is about a database that is not yours to change')
    }
    return toWire(await actions.get(await orders.give(action, order, actorOf(caller))), caller.user)
  }

  mount(pauseAction, ({ params }, caller) => give('pause', params.uid, caller))
  mount(resumeAction, ({ params }, caller) => give('resume', params.uid, caller))
  mount(cancelAction, ({ params }, caller) => give('cancel', params.uid, caller))
  mount(rollbackAction, ({ params }, caller) => give('rollback', params.uid, caller))
  mount(finalizeAction, ({ params }, caller) => give('finalize', params.uid, caller))
  mount(redoAction, ({ params }, caller) => give('redo', params.uid, caller))
  mount(retryAction, ({ params }, caller) => give('retry', params.uid, caller))
}

/** Translates an event once for all followers. */
function wireOf(event: ActionEvent): ReturnType<typeof eventToWire> {
  const wire = words.get(event) ?? eventToWire(event)
  words.set(event, wire)
  return wire
}
const words = new WeakMap<ActionEvent, ReturnType<typeof eventToWire>>()

function maySee(view: ActionView, { user }: Pick<Caller, 'user'>): boolean {
  const database = view.of === 'module' ? NO_DATABASE : view.action.databaseUid
  return may(user, 'view_status_of_cluster_action', database)
}

/** Means all databases: hidden from users limited to some. */
const NO_DATABASE = 0

/** Default limit. */
const LIMIT = 200

const pages = listPages<ActionsOrder['by'], ActionView>({
  list: 'actions',
  sorts: { created_time: 'text', last_changed_time: 'text' },
  usual: '-created_time',
  uids: 'text',
  placeOf: placeOfAction,
})

type Query = Omit<NonNullable<Input<typeof listActions>['query']>, 'status'>

function readQuery<Word extends string>(
  { status, ...query }: Query & { readonly status?: Word },
  read: Readonly<Record<Word, ActionStatus>>,
) {
  const { phase, outcome, q, bdb_uid: database } = query
  return {
    ...pages.read({ limit: LIMIT, ...query }),
    phase,
    outcome,
    q,
    database,
    status: status && read[status],
  }
}

function pageOf(views: readonly ActionView[], query: Query) {
  return pages.answer(views, { limit: LIMIT, ...query })
}
