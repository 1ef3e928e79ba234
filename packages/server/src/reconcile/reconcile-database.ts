import type { Action } from '../core/action.ts'
import { type Database, steadyGoal } from '../core/database.ts'
import { violations } from '../core/invariants.ts'
import { judge } from '../core/judge.ts'
import { planGroup } from '../core/plan-group.ts'
import { type Goal, isLive, type Seen, type Step, type Verdict } from '../core/topology.ts'
import { carryOut } from './carry-out.ts'
import type { Deps } from './deps.ts'
import { finishAction, giveUpAction, noteAction } from './note-action.ts'
import { observe } from './observe.ts'
import type { TurnMemory } from './turn-memory.ts'

/** When to look at a database again. A throw means: with back-off. */
export type Turn =
  | { readonly next: 'gone' }
  /** Nothing to do: look now and then. */
  | { readonly next: 'watch' }
  | { readonly next: 'again'; readonly afterMs: number }

/** While something is on its way: engines answer within milliseconds, and an idle upgrade shall take seconds. */
const SOON_MS = 15
/** Clients that were let go ask this very process where the primary is now: they come first. */
const AFTER_HANDOVER_MS = 50
/** A person has to act: no hurry. */
const LATER_MS = 5_000

/** One turn: look, decide, do one thing, look again. Every decision is in core/. */
export async function reconcileDatabase(
  uid: number,
  deps: Deps,
  memory: TurnMemory,
  signal: AbortSignal,
): Promise<Turn> {
  const database = await deps.databases.get(uid)
  if (database === undefined) return { next: 'gone' }
  const action = await deps.actions.active(uid)
  if (action === undefined && database.status === 'creation-failed') return { next: 'watch' }

  const goal = action?.goal ?? steadyGoal(database)
  const seen = await observe(database, deps, signal)
  await keepHistory(database, seen, deps, memory)
  const planned = planGroup(seen, goal)
  const verdict = judge(planned, memory.waitedMs(uid, planned, deps.now()), seen, goal)
  if (action !== undefined) await noteAction(action, seen, verdict, memory, deps)
  return act({ database, action, goal, seen, verdict }, deps, memory, signal)
}

interface Scene {
  readonly database: Database
  readonly action: Action | undefined
  readonly goal: Goal
  readonly seen: Seen
  readonly verdict: Verdict
}

async function act(scene: Scene, deps: Deps, memory: TurnMemory, signal: AbortSignal): Promise<Turn> {
  const { database, action, verdict } = scene
  switch (verdict.kind) {
    case 'done':
      if (action === undefined) return { next: 'watch' }
      await deps.effect('finish', () => finishAction(action, database, deps))
      memory.forget(database.uid)
      return { next: 'again', afterMs: 0 }
    case 'wait':
      return { next: 'again', afterMs: action === undefined ? SOON_MS * 10 : SOON_MS }
    case 'hopeless':
      if (action === undefined) return { next: 'again', afterMs: LATER_MS }
      await deps.effect('give-up', () => giveUpAction(action, database, verdict.why, deps))
      memory.forget(database.uid)
      return { next: 'again', afterMs: 0 }
    case 'stuck':
      if (verdict.retry !== undefined) await doStep(verdict.retry, scene, deps, signal)
      return { next: 'again', afterMs: LATER_MS }
    case 'do':
      return afterStep(
        verdict.step.kind,
        await doStep(verdict.step, scene, deps, signal),
        database.uid,
        memory,
      )
  }
}

function afterStep(
  step: Step['kind'],
  outcome: Awaited<ReturnType<typeof carryOut>>,
  uid: number,
  memory: TurnMemory,
): Turn {
  memory.held(uid, outcome.kind === 'not yet' ? outcome.why : '')
  if (outcome.kind === 'not yet') return { next: 'again', afterMs: outcome.afterMs ?? SOON_MS }
  memory.stepTaken(uid)
  return { next: 'again', afterMs: step === 'hand-over' ? AFTER_HANDOVER_MS : 0 }
}

/** A step that would break an invariant is a fault of ours: it is thrown, not carried out. */
async function doStep(step: Step, { database, action, seen }: Scene, deps: Deps, signal: AbortSignal) {
  const broken = violations(seen, step)
  if (broken.length > 0) throw new Error(`the plan would break an invariant: ${broken.join('; ')}`)
  const members = await deps.shards.listOf(database.uid)
  const outcome = await carryOut(step, { database, members, actionUid: action?.uid ?? null, deps, signal })
  deps.log.info({ database: database.uid, step: step.kind, why: step.why, outcome }, 'step carried out')
  return outcome
}

/** How far the primary's history is, for the night when the primary is gone. Not while the role moves. */
async function keepHistory(
  database: Database,
  seen: Seen,
  { databases, now }: Deps,
  memory: TurnMemory,
): Promise<void> {
  const primary = seen.shards.find((shard) => shard.id === database.primaryShard)
  if (
    seen.handover !== null ||
    primary === undefined ||
    !isLive(primary) ||
    primary.engine.role !== 'primary'
  )
    return
  const { replid, offset } = primary.engine
  const moved = database.history?.replid !== replid
  const advanced =
    database.history?.offset !== offset &&
    memory.isTime(`history of ${database.uid}`, HISTORY_EVERY_MS, now())
  if (moved || advanced) await databases.setHistory(database.uid, { replid, offset })
}

/** A commit to disk each; a replica that is further behind than this is not promoted in place of a dead primary. */
const HISTORY_EVERY_MS = 1_000
