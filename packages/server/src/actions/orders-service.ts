import { Refusal } from '@fairlead/api'
import { auditStore } from '../audit/audit-store.ts'
import type { Actor } from '../core/identity/access.ts'
import { type Order, settleOrder } from '../core/requests/settle-order.ts'
import type { Action } from '../core/state/action.ts'
import { hasEnded } from '../core/state/action-event.ts'
import { revisionOf } from '../core/state/goal.ts'
import type { Databases } from '../databases/databases-service.ts'
import type { Store } from '../store/open-store.ts'
import { actionsStore } from './actions-store.ts'

/** Takes what people say about a running action. */
export interface Orders {
  /**
   * Gives an order about an upgrade, and answers the uid of the action that it is about now: of a retry of one that has
   * failed, a new one. Throws Refusal action_ended, order_not_applicable, rollback_not_possible or db_busy.
   */
  give(action: Action, order: Order, by: Actor): Promise<string>
}

/** `nudge` wakes the reconciler of a database after an order is on record; `now` is Unix milliseconds. */
export function createOrders(deps: {
  readonly store: Store
  readonly databases: Databases
  readonly nudge: (databaseUid: number) => void
  readonly now: () => number
}): Orders {
  const { store, databases, nudge } = deps
  return {
    async give(known, order, by) {
      if (order === 'retry' && known.status === 'failed') return beginAgain(known, databases, by)
      const at = new Date(deps.now()).toISOString()
      await store.transaction(async (db) => {
        const action = (await actionsStore(db).get(known.uid)) ?? known
        if (hasEnded(action)) throw new Refusal('action_ended', `action ${action.uid} has ended`)
        const change = settleOrder(action, order, by.name)
        if ('refused' in change) throw new Refusal(change.refused, change.message)
        await actionsStore(db).update(action.uid, change, at)
        const details = { action: action.uid, order }
        await auditStore(db).append(
          { type: 'bdb_action_ordered', by, databaseUid: action.databaseUid, details },
          at,
        )
      })
      nudge(known.databaseUid)
      return known.uid
    },
  }
}

/** The same upgrade as a new action, as long as the database still is what it was accepted for. */
async function beginAgain({ uid, kind, databaseUid, asked }: Action, databases: Databases, by: Actor) {
  const { database } = await databases.get(databaseUid)
  if (kind !== 'upgrade' || asked.from === null || revisionOf(asked.from) !== revisionOf(database)) {
    throw new Refusal(
      'order_not_applicable',
      `action ${uid} cannot be begun again: the database is not what it was then; ask for a new upgrade`,
    )
  }
  const homes = database.groups.flatMap(({ primaryShard }) => primaryShard ?? [])
  const { action } = await databases.begin(databaseUid, { kind, goal: { ...asked, homes } }, by)
  return action?.uid ?? uid
}
