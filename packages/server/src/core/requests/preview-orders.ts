import { type ActionOutcome, type ActionPhase, type ErrorCode, type Obstacle, sayLength } from '@fairlead/api'
import { usualWriteStop } from '../plan/usual-write-stop.ts'
import { changed } from '../progress/changed.ts'
import type { Action } from '../state/action.ts'
import { hasEnded } from '../state/action-event.ts'
import { phaseOf } from '../state/action-phase.ts'
import { type Goal, revisionOf } from '../state/goal.ts'
import { type Order, resolveOrder } from './resolve-order.ts'

/** If an order may be given now, and its effect. */
export interface OrderPreview {
  readonly ok: boolean
  /** Code of a refusal; null if it would be accepted. */
  readonly code: ErrorCode | null
  /** The refusal for people; '' if there is none. */
  readonly why: string
  /** The effect for people; '' if refused. */
  readonly consequence: string
  /** The phase right after it (of a repeated failed upgrade: of the new action); null if refused. */
  readonly leadsTo: ActionPhase | null
  /** The action's end without failures or other orders; null if it needs another one, or this is refused. */
  readonly outcome: ActionOutcome | null
}

/** Inputs of a preview besides the action. */
export interface OrderInputs {
  /** Reason for which this caller may give no order; undefined if it may. */
  readonly forbidden: string | undefined
  /** True if every group has handed over on record, even if no turn has noted it yet. */
  readonly haveAllLeft: boolean
  /** Obstacle to repeating a failed upgrade; undefined if none. Not determined for other actions. */
  readonly whyNotAgain: Obstacle<ErrorCode> | undefined
  /** Handovers of this action. */
  readonly handovers: readonly PastHandover[]
  /** ISO 8601. */
  readonly at: string
}

/** All orders, in the order of their buttons. */
export const allOrders = [
  'pause',
  'resume',
  'cancel',
  'rollback',
  'finalize',
  'redo',
  'retry',
] as const satisfies readonly Order[]

/** Previews the effect of each order with the decision of the order itself, without recording it. */
export function previewOrders(action: Action, scene: OrderInputs): Readonly<Record<Order, OrderPreview>> {
  const previews = allOrders.map((order) => [order, previewOrder(action, order, scene)])
  return Object.fromEntries(previews) as Record<Order, OrderPreview> // one each
}

function previewOrder(action: Action, order: Order, scene: OrderInputs): OrderPreview {
  if (scene.forbidden !== undefined) return refused('forbidden', scene.forbidden)
  if (order === 'retry' && action.status === 'failed') return previewAgain(action, scene)
  if (hasEnded(action)) return refused('action_ended', 'it has ended: nothing of it can be ordered any more')
  const known = order === 'finalize' && scene.haveAllLeft ? withHandover(action, scene.at) : action
  const change = resolveOrder(known, order, { by: '', at: scene.at })
  if ('refused' in change) return refused(change.refused, change.message)
  const after = changed(known, change, scene.at)
  return {
    ok: true,
    code: null,
    why: '',
    consequence: consequenceOf(known, order, scene),
    leadsTo: after.phase,
    outcome: endOf(after),
  }
}

function withHandover(action: Action, at: string): Action {
  return action.goal.undo ? action : { ...action, handedOverAt: action.handedOverAt ?? at }
}

function previewAgain(action: Action, { whyNotAgain }: OrderInputs): OrderPreview {
  if (action.kind !== 'upgrade')
    return refused('order_not_applicable', `a ${action.kind} is not begun again; ask for it as a new one`)
  if (whyNotAgain !== undefined) return refused(whyNotAgain.code, whyNotAgain.why)
  return {
    ok: true,
    code: null,
    why: '',
    consequence: 'the same upgrade begins again, as a new action',
    leadsTo: 'queued',
    outcome: needsAnOrder(action) ? null : 'completed',
  }
}

function refused(code: ErrorCode, why: string): OrderPreview {
  return { ok: false, code, why, consequence: '', leadsTo: null, outcome: null }
}

/** An action that is taken back needs no other order; any other may stop for one. */
function endOf(after: Action): ActionOutcome | null {
  if (after.orders.paused) return null
  if (after.goal.undo) return after.ending ?? 'failed'
  return needsAnOrder(after) ? null : 'completed'
}

/** True if it will stop for a person, or has stopped. */
function needsAnOrder({ asked, orders, status, waiting }: Action): boolean {
  const { supervised, rollbackWindow } = asked.policy
  const given = status === 'failed' ? { proceed: false, finalize: false } : orders
  if (waiting?.stuck) return true
  return (supervised && !given.proceed) || (rollbackWindow === 'until-finalized' && !given.finalize)
}

function consequenceOf(action: Action, order: Order, scene: Pick<OrderInputs, 'at' | 'handovers'>): string {
  const { asked, orders } = action
  if (action.kind === 'change') return consequencesOfChange[order] ?? ''
  const [old, target] = [asked.from === null ? 'the former build' : buildOf(asked.from), buildOf(asked)]
  switch (order) {
    case 'pause':
      return phaseOf(action, Date.parse(scene.at)) === 'window'
        ? pausedWindow(asked.policy)
        : 'nothing new begins until a user resumes it; faults are still repaired, and a handover that has begun is completed'
    case 'resume':
      if (orders.paused) return 'it goes on where it was paused'
      return `the primary role moves to ${target}${inEach(asked.groups)}; ${formatWriteStop(asked, scene.handovers)}`
    case 'cancel':
    case 'rollback':
      return takenBack(action, old, scene)
    case 'redo':
      return `it turns round: the upgrade to ${target} goes on`
    case 'finalize':
      if (action.goal.undo) return `it turns round: ${target} serves, and there is no way back to ${old}`
      return `the old primaries on ${old} are given up and leave; when they have left, there is no way back to ${old}`
    case 'retry':
      return 'what it waits for is tried again at once'
  }
}

const consequencesOfChange: { readonly [Given in Order]?: string } = {
  pause: 'nothing new begins until a user resumes it; faults are still repaired',
  resume: 'it goes on where it was paused',
  cancel: 'the database becomes what it was before, while it serves',
  redo: 'it turns round: the change goes on',
  retry: 'what it waits for is tried again at once',
}

function pausedWindow({ rollbackWindow }: Action['asked']['policy']): string {
  return rollbackWindow === 'until-finalized'
    ? 'it waits for a user already; paused, it also needs a resume before a finalize takes effect'
    : 'the old primaries stay, and the way back with them, until a user resumes it, also when the window ends meanwhile; faults are still repaired'
}

function takenBack(
  { handedOverAt, waiting, handingOver, asked }: Action,
  old: string,
  scene: Pick<OrderInputs, 'handovers'>,
): string {
  const isUntouched =
    waiting?.code === 'supervised' || (handedOverAt === null && !handingOver && asked.groups === 1)
  if (isUntouched) return `what was begun is undone, and ${old} serves on: no role has moved`
  return `every role that has moved goes back to ${old}, without loss; ${formatWriteStop(asked, scene.handovers)}`
}

function inEach(groups: number): string {
  return groups === 1 ? '' : ` in each of ${groups} groups, one after the other`
}

function buildOf({ build }: Pick<Action['goal'], 'build'>): string {
  return `${build.flavour} ${build.version}`
}

/** True if a failed upgrade could be repeated: the database is unchanged since. */
export function isSameAgain(
  { kind, asked }: Pick<Action, 'kind' | 'asked'>,
  database: Parameters<typeof revisionOf>[0] | undefined,
): boolean {
  return (
    kind === 'upgrade' &&
    asked.from !== null &&
    database !== undefined &&
    revisionOf(asked.from) === revisionOf(database)
  )
}

/** A past handover: its write stop and a client's longest wait in ms; null if not measured. */
interface PastHandover {
  readonly writeStopMs: number
  readonly longestWaitMs: number | null
}

/** Describes the write stop of an order's handovers, from earlier ones or estimates. Load changes it. */
function formatWriteStop(goal: Pick<Goal, 'cluster' | 'groups'>, before: readonly PastHandover[]): string {
  const each = goal.groups === 1 ? '' : ' in each group'
  if (before.length > 0) {
    const [those, upTo] = before.length === 1 ? ['handover', ''] : ['handovers', 'up to ']
    const longest = longestOf(before.map(({ writeStopMs }) => writeStopMs))
    const waits = before.flatMap(({ longestWaitMs }) => longestWaitMs ?? [])
    const wait = waits.length === 0 ? '' : `, longest wait of a client ${longestOf(waits)}`
    return `writes stop again${each} (in the ${those} before for ${upTo}${longest}${wait}; load changes it)`
  }
  return `writes stop${each} for about ${usualWriteStop(goal).typical} ms on an idle machine, and for longer on a busy one`
}

function longestOf(lengths: readonly number[]): string {
  return sayLength(Math.max(...lengths))
}
