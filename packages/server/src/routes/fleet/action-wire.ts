import type {
  Action as ActionAnswer,
  ActionV2,
  ActionEvent as EventAnswer,
  OrderName,
  OrderPreview as PreviewAnswer,
} from '@fairlead/api'
import { may, type Principal } from '../../core/identity/access.ts'
import type { ModuleAction } from '../../core/modules/module.ts'
import { allOrders, type OrderPreview, previewOrders } from '../../core/requests/preview-orders.ts'
import type { Action, ActionStatus, Certificate, PendingStep } from '../../core/state/action.ts'
import type { ActionChange, ActionEvent } from '../../core/state/action-event.ts'
import { outcomeOf, windowEndsOf } from '../../core/state/action-phase.ts'
import type { Runs } from '../../core/state/goal.ts'
import type { ActionView } from '../../fleet/actions/actions-service.ts'
import { laneToWire, patchToWire, waitingToWire } from './lane-wire.ts'

type ChangeAnswer = Extract<EventAnswer, { readonly type: 'action' }>

/** An action of /v1/actions, with the orders that this user may give. */
export function toWire(view: ActionView, user: Principal): ActionAnswer {
  if (view.of === 'module') return moduleActionToWire(view.action)
  const { action, certificates, lanes } = view
  return {
    action_uid: action.uid,
    name: actionNames[action.kind],
    status: statusWords[action.status],
    progress: action.progress,
    object_name: `bdb:${action.databaseUid}`,
    state: action.step,
    hold_reason: action.holdReason,
    waiting_for: action.waitingFor,
    needs_person: action.needsPerson,
    pending_ops: pendingOps(action),
    certificates: certificates.map(certificateToWire),
    warnings: [...action.warnings],
    paused: action.orders.paused,
    ...(action.wayBack !== null && {
      rollback_eligible: action.wayBack.eligible,
      rollback_obstacle: action.wayBack.obstacle,
      rollback_reason: action.wayBack.reason,
    }),
    ...(action.error !== null && { error: action.error }),
    ...standingToWire(action),
    bdb_uid: action.databaseUid,
    from: action.asked.from && runsToWire(action.asked.from),
    goal: action.kind === 'delete' ? null : runsToWire(action.asked),
    request: action.request,
    requested_by: action.requestedBy,
    orders: ordersToWire(view, user),
    ...(lanes !== undefined && lanes.length > 0 && { lanes: lanes.map(laneToWire) }),
    heartbeat: unixSeconds(action.changedAt),
    creation_time: action.createdAt,
    last_changed_time: action.changedAt,
  }
}

/** A module action is complete when recorded. */
function moduleActionToWire({ uid, kind, moduleUid, createdAt }: ModuleAction): ActionAnswer {
  return {
    action_uid: uid,
    name: moduleNames[kind],
    status: 'completed',
    progress: 100,
    object_name: `module:${moduleUid}`,
    state: '',
    hold_reason: null,
    waiting_for: '',
    needs_person: false,
    pending_ops: {},
    certificates: [],
    warnings: [],
    paused: false,
    phase: 'ended',
    outcome: 'completed',
    began_time: createdAt,
    ended_time: createdAt,
    window_ends: null,
    waiting: null,
    bdb_uid: null,
    from: null,
    goal: null,
    request: null,
    requested_by: null,
    orders: noOrders,
    heartbeat: unixSeconds(createdAt),
    creation_time: createdAt,
    last_changed_time: createdAt,
  }
}

function moduleActionToWireV2({ uid, kind, moduleUid, createdAt }: ModuleAction): ActionV2 {
  return {
    action_uid: uid,
    action_type: 'state-machine',
    name: moduleNames[kind],
    status: 'completed',
    progress: 100,
    creation_time: unixSeconds(createdAt),
    additional_info: {
      object_type: 'module',
      object_uid: moduleUid,
      pending_ops: {},
      hold_reason: null,
      description: '',
    },
  }
}

const moduleNames: { readonly [Kind in ModuleAction['kind']]: ActionAnswer['name'] } = {
  upload: 'SMUploadModule',
  delete: 'SMDeleteModule',
}

/** An action of /v2/actions. */
export function toWireV2(view: ActionView): ActionV2 {
  if (view.of === 'module') return moduleActionToWireV2(view.action)
  const { action } = view
  return {
    action_uid: action.uid,
    action_type: 'state-machine',
    name: actionNames[action.kind],
    status: statusWordsV2[action.status],
    progress: action.progress,
    creation_time: unixSeconds(action.createdAt),
    additional_info: {
      object_type: 'bdb',
      object_uid: String(action.databaseUid),
      pending_ops: pendingOps(action),
      ...(action.error !== null && { error: action.error }),
      hold_reason: action.holdReason,
      description: action.waitingFor === '' ? (action.pending[0]?.why ?? '') : action.waitingFor,
    },
  }
}

/** An event of /v1/actions/:uid/events. */
export function eventToWire(event: ActionEvent): EventAnswer {
  const place = { seq: event.seq, time: event.at }
  switch (event.type) {
    case 'handover':
      return { ...place, type: 'handover', certificate: certificateToWire(event.certificate) }
    case 'lanes':
      return { ...place, type: 'lanes', lanes: event.lanes.map(patchToWire) }
    case 'action':
      return { ...place, type: 'action', ...changeToWire(event.change) }
  }
}

/** Statuses by query word of /v1/actions. */
export const fromStatus: { readonly [Word in ActionAnswer['status']]: ActionStatus } = {
  pending: 'queued',
  active: 'running',
  completed: 'done',
  failed: 'failed',
}

/** Statuses by query word of /v2/actions. */
export const fromStatusV2: { readonly [Word in ActionV2['status']]: ActionStatus } = {
  queued: 'queued',
  running: 'running',
  completed: 'done',
  failed: 'failed',
}

const statusWords: { readonly [Status in ActionStatus]: ActionAnswer['status'] } = {
  queued: 'pending',
  running: 'active',
  done: 'completed',
  failed: 'failed',
}

const statusWordsV2: { readonly [Status in ActionStatus]: ActionV2['status'] } = {
  queued: 'queued',
  running: 'running',
  done: 'completed',
  failed: 'failed',
}

function changeToWire(change: ActionChange): Omit<ChangeAnswer, 'seq' | 'type' | 'time'> {
  const { status, progress, step, holdReason, waitingFor, needsPerson, error } = change
  const { undo, paused, eligible, rollbackObstacle, reason, warnings } = change
  const { phase, outcome, waiting, beganAt, endedAt, windowEnds } = change
  return {
    ...(status !== undefined && { status: statusWords[status] }),
    ...(progress !== undefined && { progress }),
    ...(step !== undefined && { state: step }),
    ...(holdReason !== undefined && { hold_reason: holdReason }),
    ...(waitingFor !== undefined && { waiting_for: waitingFor }),
    ...(needsPerson !== undefined && { needs_person: needsPerson }),
    ...(typeof error === 'string' && { error }),
    ...(phase !== undefined && { phase }),
    ...(outcome !== undefined && { outcome }),
    ...(waiting !== undefined && { waiting: waiting && waitingToWire(waiting) }),
    ...(beganAt !== undefined && { began_time: beganAt }),
    ...(endedAt !== undefined && { ended_time: endedAt }),
    ...(windowEnds !== undefined && { window_ends: windowEnds }),
    ...(undo !== undefined && { undo }),
    ...(paused !== undefined && { paused }),
    ...(eligible !== undefined && { rollback_eligible: eligible }),
    ...(rollbackObstacle !== undefined && { rollback_obstacle: rollbackObstacle }),
    ...(reason !== undefined && { rollback_reason: reason }),
    ...(warnings !== undefined && { warnings: warnings === '' ? [] : warnings.split('\n') }),
  }
}

function certificateToWire(certificate: Certificate): ActionAnswer['certificates'][number] {
  return {
    from: String(certificate.from),
    to: String(certificate.to),
    replid: certificate.replid,
    offset_from: certificate.offsetFrom,
    offset_to: certificate.offsetTo,
    keys: certificate.keys,
    write_stop_ms: certificate.writeStopMs,
    held_ms: certificate.heldMs ?? null,
    group: certificate.group ?? null,
    phases: certificate.parts ?? null,
    clients_held: certificate.waited?.clients ?? null,
    requests_held: certificate.waited?.requests ?? null,
    longest_wait_ms: certificate.waited?.longestMs ?? null,
    recovered: certificate.recovered,
    full_syncs: certificate.fullSyncs,
    at: certificate.at,
  }
}

function standingToWire(action: Action) {
  const { phase, waiting, beganAt, endedAt } = action
  return {
    phase,
    outcome: outcomeOf(action),
    began_time: beganAt,
    ended_time: endedAt,
    window_ends: windowEndsOf(action),
    waiting: waiting && waitingToWire(waiting),
  }
}

function runsToWire({ build, modules }: Runs): NonNullable<ActionAnswer['goal']> {
  return {
    engine: build.flavour,
    engine_version: build.version,
    modules: modules.map(({ name, semanticVersion }) => ({
      module_name: name,
      semantic_version: semanticVersion,
    })),
  }
}

function pendingOps(action: Action): ActionAnswer['pending_ops'] {
  return Object.fromEntries(action.pending.map((step, n) => [step.shard, pendingToWire(step, n, action)]))
}

/** The first step is in progress. */
function pendingToWire(
  { kind, why }: PendingStep,
  n: number,
  { waitingFor, changedAt }: Action,
): ActionAnswer['pending_ops'][string] {
  const op = { op_name: kind, status_description: why }
  if (n > 0) return { ...op, status_code: 'planned', progress: 0 }
  return { ...op, status_code: waitingFor === '' ? 'due' : 'waiting', heartbeat: unixSeconds(changedAt) }
}

function unixSeconds(at: string): number {
  return Math.floor(Date.parse(at) / 1000)
}

type PreviewsAnswer = Record<OrderName, PreviewAnswer>

/** The effect of each order, for this user. */
function ordersToWire(
  { action, certificates, facts }: Extract<ActionView, { readonly of: 'database' }>,
  user: Principal,
): PreviewsAnswer {
  const isAllowed = may(user, 'update_bdb_with_action', action.databaseUid)
  const forbidden = isAllowed ? undefined : 'it needs update_bdb_with_action for this database'
  const handovers = certificates.flatMap(({ writeStopMs, waited }) =>
    writeStopMs === null ? [] : [{ writeStopMs, longestWaitMs: waited?.longestMs ?? null }],
  )
  const previews = previewOrders(action, { ...facts, handovers, forbidden })
  return previewsToWire((order) => previews[order])
}

function previewsToWire(previewOf: (order: OrderName) => OrderPreview): PreviewsAnswer {
  const previews = allOrders.map((order) => [order, previewToWire(previewOf(order))])
  return Object.fromEntries(previews) as PreviewsAnswer // one each
}

function previewToWire({ ok, code, why, consequence, leadsTo, outcome }: OrderPreview): PreviewAnswer {
  return { ok, error_code: code, why, consequence, leads_to: leadsTo, outcome }
}

const hasEnded: OrderPreview = {
  ok: false,
  code: 'action_ended',
  why: 'it has ended',
  consequence: '',
  leadsTo: null,
  outcome: null,
}

/** Previews of an action that was complete when recorded. */
const noOrders = previewsToWire(() => hasEnded)

/** Names of actions in the wider API. */
export const actionNames: { readonly [Kind in Action['kind']]: ActionAnswer['name'] } = {
  create: 'SMCreateBDB',
  upgrade: 'SMUpgradeBDB',
  change: 'SMUpdateBDB',
  delete: 'SMDeleteBDB',
}
