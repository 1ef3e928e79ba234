import { type Foreseen, foresee } from '../../core/dry-run/foresee.ts'
import { type NamedStep, nameSteps } from '../../core/dry-run/name-steps.ts'
import { isNews } from '../../core/progress/changed.ts'
import { waitsFor } from '../../core/progress/wait-of.ts'
import { type Action, type ActionNews, type PendingStep, progressOf } from '../../core/state/action.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { Goal, ObservedDatabase, Verdict } from '../../core/state/topology.ts'
import { hasHandedOver, wayBack } from '../../core/state/way-back.ts'
import type { ActionRecords, Clock } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { noteLanes } from './note-lanes.ts'

/** Records changes of an action's work and waits. People follow it; no other code reads it. */
export async function noteAction(
  action: Action,
  seen: ObservedDatabase,
  lanes: readonly Lane[],
  memory: TurnMemory,
  ports: ActionRecords<'lanes' | 'update'> & Clock,
): Promise<void> {
  const { databaseUid, goal } = action
  const at = new Date(ports.now()).toISOString()
  const verdict = mostTelling(lanes)
  const late = verdict.kind === 'do' ? verdict.late : undefined
  const obstacle = 'why' in verdict && verdict.why !== '' ? verdict : (late ?? memory.whyHeld(databaseUid))
  const isTime = verdict.kind !== 'done' && memory.isTime(`plan of ${databaseUid}`, PLAN_EVERY_MS)
  const toCome = isTime ? foresee(seen, goal) : undefined
  // An old shard may have replaced a new primary that died: then the role has to move again.
  const handedOverAt = handedOver(seen, goal) ? (action.handedOverAt ?? at) : null
  const noted = await noteLanes({ ...action, handedOverAt }, { seen, lanes, toCome, at }, memory, ports)
  // One record for all: each waits for the disk.
  const news: ActionNews = {
    status: 'running',
    step: verdict.kind === 'do' ? verdict.step.kind : verdict.kind,
    ...waitsFor(obstacle),
    needsPerson:
      verdict.kind === 'stuck' || late !== undefined || (verdict.kind === 'hold' && verdict.on === 'person'),
    ...(action.kind === 'upgrade' && { wayBack: wayBack(seen, action.asked) }),
    handedOverAt,
    ...noted,
    ...(toCome !== undefined && planOf(action, seen, toCome, memory)),
  }
  if (isNews(action, news)) await ports.actions.update(action.uid, news, at)
}

function planOf(
  { databaseUid, goal, progress }: Action,
  seen: ObservedDatabase,
  toCome: readonly Foreseen[],
  memory: Pick<TurnMemory, 'stepsTaken'>,
): Pick<Action, 'progress' | 'pending'> {
  return {
    progress: progressOf(progress, {
      stepsTaken: memory.stepsTaken(databaseUid),
      stepsToCome: toCome.length,
      isMoved: goal.from === null || seen.groups.every((group) => hasHandedOver(group, goal)),
    }),
    pending: nameSteps(seen, toCome).reduce(onceAShard, []),
  }
}

/** The whole plan is computed for people only, who could not read it more often. */
const PLAN_EVERY_MS = 500

/** Returns the verdict that people should know first. */
function mostTelling(lanes: readonly Lane[]): Verdict {
  const order: readonly Verdict['kind'][] = ['stuck', 'hopeless', 'do', 'wait', 'hold', 'done']
  const rank = ({ verdict }: Lane) =>
    verdict.kind === 'do' && verdict.late !== undefined
      ? order.indexOf('stuck')
      : order.indexOf(verdict.kind) + (verdict.kind === 'hold' && verdict.on === 'group' ? 0.5 : 0)
  return lanes.toSorted((a, b) => rank(a) - rank(b))[0]?.verdict ?? { kind: 'done' }
}

function handedOver({ groups }: ObservedDatabase, goal: Goal): boolean {
  return !goal.undo && goal.from !== null && groups.every((group) => hasHandedOver(group, goal))
}

function onceAShard(pending: PendingStep[], { shard, kind, why }: NamedStep): PendingStep[] {
  if (shard === '' || pending.some((one) => one.shard === shard)) return pending
  return [...pending, { shard, kind, why }]
}
