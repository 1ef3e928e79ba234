import { type Action as ActionAnswer, getAction, Refusal } from '@fairlead/api'
import { may } from '../core/access.ts'
import type { Action, Certificate, PendingStep } from '../core/action.ts'
import type { Mount } from '../http/mount.ts'
import type { Actions } from './actions-service.ts'

export function actionsRoutes(mount: Mount, actions: Actions): void {
  mount(getAction, async ({ params }, { user }) => {
    const { action, certificates } = await actions.get(params.uid)
    if (!may(user, 'view_status_of_cluster_action', action.databaseUid)) {
      throw new Refusal(
        'forbidden',
        `the action is about database ${action.databaseUid}, which is not yours to see`,
      )
    }
    return toWire(action, certificates)
  })
}

function toWire(action: Action, certificates: readonly Certificate[]): ActionAnswer {
  return {
    action_uid: action.uid,
    name: names[action.kind],
    status: statusWords[action.status],
    progress: action.progress,
    object_name: `bdb:${action.databaseUid}`,
    state: action.step,
    waiting_for: action.waitingFor,
    needs_person: action.needsPerson,
    pending_ops: Object.fromEntries(
      action.pending.map((step, n) => [step.shard, pendingToWire(step, n, action)]),
    ),
    certificates: certificates.map(certificateToWire),
    ...(action.error !== null && { error: action.error }),
    creation_time: action.createdAt,
    last_changed_time: action.changedAt,
  }
}

const names: { readonly [Kind in Action['kind']]: ActionAnswer['name'] } = {
  create: 'SMCreateBDB',
  upgrade: 'SMUpgradeBDB',
  delete: 'SMDeleteBDB',
}

const statusWords: { readonly [Status in Action['status']]: ActionAnswer['status'] } = {
  queued: 'pending',
  running: 'active',
  done: 'completed',
  failed: 'failed',
}

function certificateToWire(certificate: Certificate): ActionAnswer['certificates'][number] {
  return {
    from: String(certificate.from),
    to: String(certificate.to),
    replid: certificate.replid,
    offset_from: certificate.offsetFrom,
    offset_to: certificate.offsetTo,
    write_stop_ms: certificate.writeStopMs,
    recovered: certificate.recovered,
    full_syncs: certificate.fullSyncs,
    at: certificate.at,
  }
}

/** The first is in hand; the others come after it. */
function pendingToWire(
  { kind, why }: PendingStep,
  n: number,
  { waitingFor }: Action,
): ActionAnswer['pending_ops'][string] {
  const inHand = waitingFor === '' ? 'due' : 'waiting'
  return { op_name: kind, status_code: n > 0 ? 'planned' : inHand, status_description: why }
}
