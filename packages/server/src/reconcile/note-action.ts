import { type ActionNews, actionsStore } from '../actions/actions-store.ts'
import { auditStore } from '../audit/audit-store.ts'
import { type Action, type PendingStep, progressOf, undoGoal } from '../core/action.ts'
import { fairlead } from '../core/audit-record.ts'
import type { Database } from '../core/database.ts'
import { foresee } from '../core/foresee.ts'
import type { Seen, Step, Verdict } from '../core/topology.ts'
import { databasesStore } from '../databases/databases-store.ts'
import type { Deps } from './deps.ts'
import type { TurnMemory } from './turn-memory.ts'

/** Writes down what an action does and waits for, where that changed: people follow it, and nothing else reads it. */
export async function noteAction(
  action: Action,
  seen: Seen,
  verdict: Verdict,
  memory: TurnMemory,
  deps: Deps,
): Promise<void> {
  const toCome = foresee(seen, action.goal)
  const why =
    verdict.kind === 'wait' || verdict.kind === 'stuck' ? verdict.why : memory.whyHeld(action.databaseUid)
  await note(action, deps, {
    status: 'running',
    progress:
      verdict.kind === 'done'
        ? action.progress
        : progressOf(action.progress, memory.stepsTaken(action.databaseUid), toCome.length),
    step: verdict.kind === 'do' ? verdict.step.kind : verdict.kind,
    waitingFor: why,
    needsPerson: verdict.kind === 'stuck',
    pending: toCome.reduce(onceAShard, []),
  })
}

/** The world failed us in this turn; it is tried again. */
export async function noteTrouble(action: Action, why: string, deps: Deps): Promise<void> {
  await note(action, deps, { waitingFor: `it is tried again after trouble: ${why}` })
}

/** The goal is reached: an upgrade takes effect on record, or was taken back and has failed; whole or not at all. */
export async function finishAction(action: Action, database: Database, { store, now }: Deps): Promise<void> {
  const at = new Date(now()).toISOString()
  const failed = action.error !== null
  await store.transaction(async (db) => {
    const databases = databasesStore(db)
    const end = { status: failed ? 'failed' : 'done', progress: failed ? action.progress : 100 } as const
    await actionsStore(db).update(
      action.uid,
      { ...end, step: '', waitingFor: '', needsPerson: false, pending: [] },
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
    if (!failed) await databases.setBuild(database.uid, action.goal, at)
    return databases.setStatus(database.uid, 'active', at)
  })
}

/** The goal cannot be reached. From now on the action takes back what it began, and will end as failed. */
export async function giveUpAction(
  action: Action,
  database: Database,
  why: string,
  { actions, now, log }: Deps,
): Promise<void> {
  log.warn({ action: action.uid, database: database.uid, why }, 'an action is given up')
  const goal =
    action.kind === 'create' ? { ...action.goal, kind: 'remove' as const } : undoGoal(action.goal, database)
  await actions.update(action.uid, { goal, error: why }, new Date(now()).toISOString())
}

function onceAShard(pending: PendingStep[], step: Step): PendingStep[] {
  const shard = shardOf(step)
  if (shard === null || pending.some((one) => one.shard === shard)) return pending
  return [...pending, { shard, kind: step.kind, why: step.why }]
}

function shardOf(step: Step): string | null {
  if (step.kind === 'add-shard') return 'new'
  if (step.kind === 'hand-over') return String(step.to)
  return 'shard' in step ? String(step.shard) : null
}

async function note(action: Action, { actions, now }: Deps, news: ActionNews): Promise<void> {
  const known: ActionNews = action
  const keys = Object.keys(news) as (keyof ActionNews)[]
  if (keys.every((key) => JSON.stringify(known[key]) === JSON.stringify(news[key]))) return
  await actions.update(action.uid, news, new Date(now()).toISOString())
}
