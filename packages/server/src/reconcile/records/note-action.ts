import { type ActionNews, actionsStore } from '../../actions/actions-store.ts'
import { auditStore } from '../../audit/audit-store.ts'
import { foresee } from '../../core/dry-run/foresee.ts'
import { type NamedStep, nameSteps } from '../../core/dry-run/name-steps.ts'
import { fairlead } from '../../core/identity/audit-record.ts'
import { whyNotBegin } from '../../core/requests/queue.ts'
import { type Action, type PendingStep, progressOf, undoGoal } from '../../core/state/action.ts'
import type { Database } from '../../core/state/database.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import type { Goal, SeenDatabase, Verdict } from '../../core/state/topology.ts'
import { hasLeft, wayBack } from '../../core/state/way-back.ts'
import { databasesStore } from '../../databases/databases-store.ts'
import type { Deps } from '../turn/deps.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/** Whether others go first. Why is noted in the action. */
export async function hasToWait(action: Action, deps: Deps): Promise<boolean> {
  if (action.status !== 'queued') return false
  const obstacle = whyNotBegin(action, await deps.actions.listActive())
  if (obstacle !== undefined) await note(action, deps, said(obstacle))
  return obstacle !== undefined
}

/** Writes down what an action does and waits for, where that changed: people follow it, and nothing else reads it. */
export async function noteAction(
  action: Action,
  seen: SeenDatabase,
  lanes: readonly Lane[],
  memory: TurnMemory,
  deps: Deps,
): Promise<void> {
  const { databaseUid, goal } = action
  const verdict = mostTelling(lanes)
  const obstacle = 'why' in verdict && verdict.why !== '' ? verdict : memory.whyHeld(databaseUid)
  await note(action, deps, {
    status: 'running',
    step: verdict.kind === 'do' ? verdict.step.kind : verdict.kind,
    ...said(obstacle),
    needsPerson: verdict.kind === 'stuck' || (verdict.kind === 'hold' && verdict.on === 'person'),
    ...(action.kind === 'upgrade' && { wayBack: wayBack(seen, action.asked) }),
    ...(handedOver(seen, goal) &&
      action.handedOverAt === null && { handedOverAt: new Date(deps.now()).toISOString() }),
  })
  if (verdict.kind === 'done' || !memory.isTime(`plan of ${databaseUid}`, PLAN_EVERY_MS)) return
  const toCome = foresee(seen, goal)
  await note(action, deps, {
    progress: progressOf(action.progress, {
      stepsTaken: memory.stepsTaken(databaseUid),
      stepsToCome: toCome.length,
      isMoved: goal.from === null || seen.groups.every((group) => hasLeft(group, goal)),
    }),
    pending: nameSteps(seen, toCome).reduce(onceAShard, []),
  })
}

/** The plan to the end is worked out for people: they do not read faster. */
const PLAN_EVERY_MS = 500

/** Of what the groups do and wait for, what people should know first. */
function mostTelling(lanes: readonly Lane[]): Verdict {
  const order: readonly Verdict['kind'][] = ['stuck', 'hopeless', 'do', 'wait', 'hold', 'done']
  const rank = ({ verdict }: Lane) =>
    order.indexOf(verdict.kind) + (verdict.kind === 'hold' && verdict.on === 'group' ? 0.5 : 0)
  return lanes.toSorted((a, b) => rank(a) - rank(b))[0]?.verdict ?? { kind: 'done' }
}

function handedOver({ groups }: SeenDatabase, goal: Goal): boolean {
  return !goal.undo && goal.from !== null && groups.every((group) => hasLeft(group, goal))
}

/** The world failed us in this turn; it is tried again. */
export async function noteTrouble(action: Action, why: string, deps: Deps): Promise<void> {
  await note(action, deps, said({ code: 'trouble', why: `it is tried again after trouble: ${why}` }))
}

/** The goal is reached: an upgrade takes effect on record, or was taken back and has failed; whole or not at all. */
export async function finishAction(action: Action, database: Database, { store, now }: Deps): Promise<void> {
  const at = new Date(now()).toISOString()
  const failed = action.error !== null
  await store.transaction(async (db) => {
    const databases = databasesStore(db)
    // Somebody may have taken it back, or turned it round, since this turn looked: then it has not reached its goal.
    const now = await actionsStore(db).get(action.uid)
    if (JSON.stringify(now?.goal) !== JSON.stringify(action.goal)) return
    const end = { status: failed ? 'failed' : 'done', progress: failed ? action.progress : 100 } as const
    await actionsStore(db).update(
      action.uid,
      {
        ...end,
        step: '',
        ...said(undefined),
        needsPerson: false,
        pending: [],
        ...(action.kind === 'upgrade' && { wayBack: { eligible: false, reason: 'it has ended' } }),
      },
      at,
    )
    await auditStore(db).append(
      {
        type: failed ? 'bdb_action_failed' : 'bdb_action_completed',
        by: fairlead,
        databaseUid: database.uid,
        details: { action: action.uid, kind: action.kind, ...(failed && { why: action.error ?? '' }) },
      },
      at,
    )
    if (action.kind === 'delete') return databases.remove(database.uid)
    if (failed && action.kind === 'create') return databases.setStatus(database.uid, 'creation-failed', at)
    if (!failed) await databases.setRuns(database.uid, action.goal, at)
    return databases.setStatus(database.uid, 'active', at)
  })
}

/** The goal cannot or shall not be reached. From now on the action takes back what it began, and will end as failed. */
export async function giveUpAction(action: Action, why: string, { actions, now, log }: Deps): Promise<void> {
  log.warn({ action: action.uid, database: action.databaseUid, why }, 'an action is given up')
  await actions.update(
    action.uid,
    { goal: undoGoal(action.goal), error: why, handedOverAt: null },
    new Date(now()).toISOString(),
  )
}

/** People must know this besides. Said once. */
export async function warnOf(action: Action, warning: string, { actions, now }: Deps): Promise<void> {
  const known = (await actions.get(action.uid))?.warnings ?? []
  if (known.includes(warning)) return
  await actions.update(action.uid, { warnings: [...known, warning] }, new Date(now()).toISOString())
}

function onceAShard(pending: PendingStep[], { shard, kind, why }: NamedStep): PendingStep[] {
  if (shard === '' || pending.some((one) => one.shard === shard)) return pending
  return [...pending, { shard, kind, why }]
}

/** Why it waits, for programs and for people. */
function said(obstacle: Obstacle | undefined): Pick<Action, 'holdReason' | 'waitingFor'> {
  return { holdReason: obstacle?.code ?? null, waitingFor: obstacle?.why ?? '' }
}

async function note(action: Action, { actions, now }: Deps, news: ActionNews): Promise<void> {
  const known: ActionNews = action
  const keys = Object.keys(news) as (keyof ActionNews)[]
  if (keys.every((key) => JSON.stringify(known[key]) === JSON.stringify(news[key]))) return
  await actions.update(action.uid, news, new Date(now()).toISOString())
}
