import {
  cancelAction,
  finalizeAction,
  pauseAction,
  Refusal,
  redoAction,
  resumeAction,
  retryAction,
  rollbackAction,
} from '@fairlead/api'
import { actorOf, type Caller, may } from '../../core/identity/access.ts'
import type { Order } from '../../core/requests/resolve-order.ts'
import type { Actions } from '../../fleet/actions/actions-service.ts'
import type { Orders } from '../../fleet/actions/orders-service.ts'
import type { Mount } from '../../http/mount.ts'
import { toWire } from './action-wire.ts'

/** Serves orders to a running upgrade. Answers once the order is recorded; it is carried out later. */
export function ordersRoutes(mount: Mount, actions: Actions, orders: Orders): void {
  const give = async (order: Order, uid: string, caller: Caller) => {
    const view = await actions.get(uid)
    if (view.of === 'module') throw new Refusal('action_ended', `action ${uid} has ended`)
    const { action } = view
    if (!may(caller.user, 'update_bdb_with_action', action.databaseUid)) {
      throw new Refusal(
        'forbidden',
        `the action is about database ${action.databaseUid}, which is not yours to change`,
      )
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
