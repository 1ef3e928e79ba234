import { Refusal } from '@fairlead/api'
import type { Actor } from '../../core/identity/access.ts'
import { isSameAgain } from '../../core/requests/preview-orders.ts'
import { type Order, resolveOrder } from '../../core/requests/resolve-order.ts'
import type { Action } from '../../core/state/action.ts'
import { hasEnded } from '../../core/state/action-event.ts'
import { haveAllLeft } from '../../core/state/way-back.ts'
import { auditStore } from '../../identity/stores/audit-store.ts'
import type { Db, Store } from '../../store/open-store.ts'
import type { Databases } from '../databases/databases-service.ts'
import { toRefusal } from '../refusals/to-refusal.ts'
import { actionsStore } from '../stores/actions-store.ts'
import { databaseOrdersStore } from '../stores/database-orders-store.ts'
import { databasesStore } from '../stores/databases-store.ts'
import { shardsStore } from '../stores/shards-store.ts'

/** Takes orders of people about a running action. */
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
        const recorded = (await actionsStore(db).get(known.uid)) ?? known
        const action = order === 'finalize' ? await withHandover(recorded, at, db) : recorded
        if (hasEnded(action)) throw new Refusal('action_ended', `action ${action.uid} has ended`)
        const change = resolveOrder(action, order, { by: by.name, at })
        if ('refused' in change) throw toRefusal(change)
        const { handedOverAt } = action
        await actionsStore(db).update(action.uid, { handedOverAt, ...change }, at)
        await databaseOrdersStore(db).note(action.databaseUid)
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

/**
 * The last group may have handed over, and a turn that is waiting (for the cluster to agree, for one) has not written down when: then `at` is
 * when. What is to be finalized is there.
 */
async function withHandover(action: Action, at: string, db: Db): Promise<Action> {
  const { databaseUid, goal, handedOverAt } = action
  if (handedOverAt !== null || goal.undo) return action
  const [database, shards] = [
    await databasesStore(db).get(databaseUid),
    await shardsStore(db).listOf(databaseUid),
  ]
  const isMoved = database !== undefined && haveAllLeft(database.groups, shards, goal)
  return isMoved ? { ...action, handedOverAt: at } : action
}

/** The same upgrade as a new action, as long as the database still is what it was accepted for. */
async function beginAgain(
  { uid, kind, databaseUid, asked, request }: Action,
  databases: Databases,
  by: Actor,
) {
  const { database } = await databases.get(databaseUid)
  if (kind !== 'upgrade' || !isSameAgain({ kind, asked }, database)) {
    throw new Refusal(
      'order_not_applicable',
      `action ${uid} cannot be begun again: the database is not what it was then; ask for a new upgrade`,
    )
  }
  const homes = database.groups.flatMap(({ primaryShard }) => primaryShard ?? [])
  const { action } = await databases.begin(databaseUid, { kind, goal: { ...asked, homes }, request }, by)
  return action?.uid ?? uid
}
