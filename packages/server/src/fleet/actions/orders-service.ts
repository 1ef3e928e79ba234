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

export type Orders = ReturnType<typeof createOrders>

/**
 * Accepts people's orders to a running action. `nudge` wakes the reconciler after an order is recorded; `now`
 * is Unix milliseconds.
 */
export function createOrders(deps: {
  readonly store: Store
  readonly databases: Databases
  readonly nudge: (databaseUid: number) => void
  readonly now: () => number
}) {
  const { store, databases, nudge } = deps
  return {
    /**
     * Records an order. Returns its action's uid: a new one for the retry of a failed upgrade. Throws Refusal
     * action_ended, order_not_applicable, rollback_not_possible or db_busy.
     */
    async give(known: Action, order: Order, by: Actor): Promise<string> {
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
        // What the database is to be follows the goal of its change.
        if (change.goal?.change !== undefined)
          await databasesStore(db).setSettings(action.databaseUid, change.goal.change.to, at)
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
 * Sets the time of the last handover to `at` if all groups have handed over and a waiting turn has not
 * recorded it yet: the standbys to finalize exist.
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

/** Starts the same upgrade as a new action, if the database is unchanged since its acceptance. */
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
