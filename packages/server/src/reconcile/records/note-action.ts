import { type Foreseen, foresee } from '../../core/dry-run/foresee.ts'
import { type NamedStep, nameSteps } from '../../core/dry-run/name-steps.ts'
import { failLane } from '../../core/progress/advance-lane.ts'
import { since } from '../../core/progress/wait-of.ts'
import { UPGRADES_AT_ONCE, whyNotAdmitted } from '../../core/requests/admit-upgrade.ts'
import {
  type Action,
  type ActionNews,
  type PendingStep,
  progressOf,
  undoGoal,
} from '../../core/state/action.ts'
import type { Database } from '../../core/state/database.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { Waiting } from '../../core/state/lane-record.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import type { Goal, ObservedDatabase, Verdict } from '../../core/state/topology.ts'
import { hasHandedOver, wayBack } from '../../core/state/way-back.ts'
import type { ActionRecords, Clock, Log } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { noteLanes } from './note-lanes.ts'

/**
 * Returns the ms until the next check if other upgrades come first; undefined if it is this action's turn.
 * Notes the reason in the action.
 */
export async function hasToWait(
  action: Action,
  ports: ActionRecords<'listActive' | 'update'> & Clock,
): Promise<number | undefined> {
  if (action.status !== 'queued') return undefined
  const obstacle = whyNotAdmitted(action, await ports.actions.listActive(action.uid))
  if (obstacle === undefined) return undefined
  const { code, why } = obstacle
  await noteWait(action, { shard: null, until: null, stuck: false, on: 'capacity', code, why }, ports)
  // The first few in the queue check often; a thousand others must not slow down the running ones.
  return Math.min(QUEUED_MS.most, QUEUED_MS.least * Math.ceil(obstacle.places / UPGRADES_AT_ONCE))
}

const QUEUED_MS = { least: 500, most: 10_000 }

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
  await note(action, ports, {
    status: 'running',
    step: verdict.kind === 'do' ? verdict.step.kind : verdict.kind,
    ...said(obstacle),
    needsPerson:
      verdict.kind === 'stuck' || late !== undefined || (verdict.kind === 'hold' && verdict.on === 'person'),
    ...(action.kind === 'upgrade' && { wayBack: wayBack(seen, action.asked) }),
    handedOverAt,
    ...noted,
    ...(toCome !== undefined && planOf(action, seen, toCome, memory)),
  })
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

/** Notes an external error that ended this turn; it is retried. `lasts`: a person should look. */
export async function recordPassFailure(
  action: Action,
  why: string,
  lasts: boolean,
  ports: ActionRecords<'update'> & Clock,
): Promise<void> {
  const trouble: Waiting = {
    shard: null,
    until: null,
    stuck: lasts,
    on: lasts ? 'person' : 'time',
    code: 'trouble',
    why: `it failed and is tried again: ${why}`,
  }
  await noteWait(action, trouble, ports, lasts)
}

/** Ends the action: an upgrade takes effect on record, or was taken back and has failed, as a whole. */
export async function finishAction(
  action: Action,
  database: Database,
  { actions, now }: ActionRecords<'finish'> & Clock,
): Promise<void> {
  await actions.finish(action, database, new Date(now()).toISOString())
}

/**
 * Gives up an unreachable or unwanted goal: the action takes back its work and will end as failed. `group`:
 * the group that has shown it; undefined: none.
 */
export async function giveUpAction(
  action: Action,
  { why, group }: { readonly why: string; readonly group?: number },
  { actions, now, log }: ActionRecords<'lanes' | 'update'> & Clock & Log,
): Promise<void> {
  log.warn({ action: action.uid, database: action.databaseUid, why }, 'an action is given up')
  const at = new Date(now()).toISOString()
  const lanes = group === undefined ? [] : await actions.lanes(action.uid)
  const lane = lanes.find((one) => one.group === group)
  await actions.update(
    action.uid,
    {
      goal: undoGoal(action.goal),
      error: why,
      ending: 'failed',
      handedOverAt: null,
      waiting: null,
      ...(lane !== undefined && { lanes: [failLane(lane, at)] }),
    },
    at,
  )
}

/** Adds a warning to the action, once. */
export async function warnOf(
  action: Action,
  warning: string,
  { actions, now }: ActionRecords & Clock,
): Promise<void> {
  const known = (await actions.get(action.uid))?.warnings ?? []
  if (known.includes(warning)) return
  await actions.update(action.uid, { warnings: [...known, warning] }, new Date(now()).toISOString())
}

function onceAShard(pending: PendingStep[], { shard, kind, why }: NamedStep): PendingStep[] {
  if (shard === '' || pending.some((one) => one.shard === shard)) return pending
  return [...pending, { shard, kind, why }]
}

/** Notes a wait of the whole action. */
async function noteWait(
  action: Action,
  wait: Waiting,
  ports: ActionRecords<'update'> & Clock,
  needsPerson = false,
): Promise<void> {
  const waiting = since(wait, action.waiting, new Date(ports.now()).toISOString())
  await note(action, ports, { ...said(wait), waiting, ...(needsPerson && { needsPerson }) })
}

/** Returns why it waits, for programs and for people. */
function said(obstacle: Obstacle | undefined): Pick<Action, 'holdReason' | 'waitingFor'> {
  return { holdReason: obstacle?.code ?? null, waitingFor: obstacle?.why ?? '' }
}

async function note(
  action: Action,
  { actions, now }: ActionRecords<'update'> & Clock,
  news: ActionNews,
): Promise<void> {
  const known: ActionNews = action
  const keys = Object.keys(news) as (keyof ActionNews)[]
  if (keys.every((key) => JSON.stringify(known[key]) === JSON.stringify(news[key]))) return
  await actions.update(action.uid, news, new Date(now()).toISOString())
}
