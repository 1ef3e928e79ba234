import { violations } from '../../core/plan/invariants.ts'
import { isUndoable, judge } from '../../core/plan/judge.ts'
import { planDatabase } from '../../core/plan/plan-database.ts'
import type { Action } from '../../core/state/action.ts'
import { type Database, steadyGoal } from '../../core/state/database.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { everything, leaveOf } from '../../core/state/orders.ts'
import { findGroup, type Goal, type SeenDatabase, type Step } from '../../core/state/topology.ts'
import { carryToFollowers } from '../carry-over/carry-to-followers.ts'
import { keepWithinReach } from '../carry-over/keep-within-reach.ts'
import { keepEndpoint } from '../clients/endpoints.ts'
import { keepWritesGoing } from '../handover/keep-writes-going.ts'
import { observe } from '../look/observe.ts'
import { endReservations, keepHistory } from '../records/keep-records.ts'
import { finishAction, giveUpAction, hasToWait, noteAction, warnOf } from '../records/note-action.ts'
import { noteObstacle } from '../records/note-obstacle.ts'
import { tellOfHanging } from '../records/tell-of-loss.ts'
import { tellOfStrangers } from '../records/tell-of-strangers.ts'
import { keepLimits } from '../shards/keep-limits.ts'
import { keepNodeTimeout } from '../shards/keep-node-timeout.ts'
import { keepStreams } from '../shards/keep-streams.ts'
import { keepSyncRoom } from '../shards/keep-sync-room.ts'
import { keepShardCertificates } from '../shards/shard-certificates.ts'
import { carryOut } from '../steps/carry-out.ts'
import { createTurns, type Deps } from '../turn/deps.ts'
import type { Outcome } from '../turn/outcome.ts'
import type { Moves } from '../turn/scene.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

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
/** A person or the time has to say go. What people see of the standbys is that old at most. */
const HELD_MS = 250
/** A person has to act: no hurry. */
const LATER_MS = 5_000
/** What has to happen somewhere else first. */
const QUEUED_MS = 500

/** One turn: look, decide, do one thing in each group, look again. Every decision is in core/. */
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
  if (action !== undefined && (await hasToWait(action, deps))) return { next: 'again', afterMs: QUEUED_MS }

  const began = performance.now()
  const goal = action?.goal ?? steadyGoal(database)
  const seen = await observe(database, deps, signal)
  await keepHistory({ database, action }, seen, deps, memory)
  await endReservations(seen, deps)
  if (goal.kind === 'keep') await keepLimits(database, seen, deps)
  await keepShardCertificates(database, seen, deps, memory)
  await keepSyncRoom(database, seen, deps, memory)
  await keepNodeTimeout(database, seen, deps, memory)
  await keepStreams(database, seen, deps, memory)
  await keepWithinReach(database, seen, deps, memory)
  await keepWritesGoing(database, seen, deps, memory)
  await tellOfHanging(seen, { database, action }, deps, memory)
  await tellOfStrangers(seen, { database, action }, deps, memory)
  await keepEndpoint(database, goal, seen, deps, memory).catch((cause: unknown) => {
    // A database in service is looked after without its endpoint, too; one that comes or goes is done only with it.
    if (action !== undefined && action.kind !== 'upgrade') throw cause
    deps.log.warn({ err: cause, database: uid }, 'the endpoint is not as it shall be')
  })
  const lanes = plan(database, action, goal, seen, deps, memory)
  await noteObstacle(database, lanes, deps)
  if (action !== undefined) await noteAction(action, seen, lanes, memory, deps)
  return act({ began, database, action, goal, seen, lanes }, deps, memory, signal)
}

function plan(
  { uid }: Database,
  action: Action | undefined,
  goal: Goal,
  seen: SeenDatabase,
  deps: Deps,
  memory: TurnMemory,
): readonly Lane[] {
  const now = deps.now()
  const handedOverAt = action?.handedOverAt == null ? null : Date.parse(action.handedOverAt)
  const leave = action === undefined ? everything : leaveOf(goal, action.orders, handedOverAt, now)
  const undoable = action !== undefined && isUndoable(seen, goal)
  const whatToDo = action?.kind === 'upgrade' ? RETRY : ''
  return planDatabase(seen, goal, leave).map(({ group, verdict }) => ({
    group,
    verdict: judge(verdict, memory.waitedMs(uid, group, verdict), findGroup(seen, group), undoable, whatToDo),
  }))
}

/** A machine that is busy for a moment is the usual reason for a wait that has no end. */
const RETRY = '; what was begun is undone. If the machine was busy, try again with the order retry'

interface Scene {
  /** When the look began, by performance.now(). */
  readonly began: number
  readonly database: Database
  readonly action: Action | undefined
  readonly goal: Goal
  readonly seen: SeenDatabase
  readonly lanes: readonly Lane[]
}

type Hands = Scene & { readonly moves: Moves }

async function act(scene: Scene, deps: Deps, memory: TurnMemory, signal: AbortSignal): Promise<Turn> {
  const { began, database, action, lanes } = scene
  if (lanes.every(({ verdict }) => verdict.kind === 'done')) return finish(scene, deps, memory)

  const hopeless = lanes.find(({ verdict }) => verdict.kind === 'hopeless')?.verdict
  if (hopeless?.kind === 'hopeless' && action !== undefined) {
    await deps.effect('give-up', () => giveUpAction(action, hopeless.why, deps))
    memory.forget(database.uid)
    return { next: 'again', afterMs: 0 }
  }
  const hands = { ...scene, moves: oneAfterTheOther(performance.now() - began, lanes.every(isAtHandover)) }
  const queues = Array.from({ length: STEPS_AT_ONCE }, createTurns)
  const turns = await Promise.allSettled(
    lanes.map(
      async (lane, n) => queues[n % queues.length]?.(() => actInLane(lane, hands, deps, memory, signal)) ?? 0,
    ),
  )
  const failed = turns.find((turn) => turn.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return { next: 'again', afterMs: Math.min(...turns.map((turn) => ('value' in turn ? turn.value : 0))) }
}

/** Over all groups: more would wait for the disk of the node longer than anybody waits for an answer. */
const STEPS_AT_ONCE = 16

/**
 * Roles move one after the other, and a turn begins no further move after some time. While a group is on its way to its handover, it
 * waits for the end of the turn: then a turn spends as long on moves as on looking. Else it goes on for a while; then pauses,
 * cancels and whatever else is new are heard.
 */
function oneAfterTheOther(lookedMs: number, isAll: boolean): Moves {
  const now = performance.now()
  const deadline = now + (isAll ? MOVES_MS : lookedMs)
  const inTurn = createTurns()
  let moves = 0
  return {
    waitUntil: isAll ? deadline : now,
    inTurn: (move) =>
      inTurn(async () => {
        if (moves > 0 && performance.now() > deadline)
          return { kind: 'not yet', code: 'other_groups', why: 'other groups hand over first' }
        moves += 1
        return move()
      }),
  }
}

const MOVES_MS = 1_000

/** It has got as far as its handover, or has nothing to do before the others have. */
function isAtHandover({ verdict }: Lane): boolean {
  if (verdict.kind !== 'do') return verdict.kind !== 'wait'
  return ['hand-over', 'record-wish', 'seal-handover'].includes(verdict.step.kind)
}

async function finish(scene: Scene, deps: Deps, memory: TurnMemory): Promise<Turn> {
  const { database, action } = scene
  if (action === undefined) {
    await dressAnew(scene, deps, memory)
    return { next: 'watch' }
  }
  if (action.kind === 'upgrade') await dressAll(scene, deps)
  await deps.effect('finish', () => finishAction(action, database, deps))
  memory.forget(database.uid)
  return { next: 'again', afterMs: 0 }
}

/** Before an upgrade counts as done: whoever may become primary one day has the users and settings that its primary has. */
async function dressAll({ database, action, seen }: Scene, deps: Deps): Promise<void> {
  const records = await deps.shards.listOf(database.uid)
  for (const { group, recordedPrimary } of seen.groups) {
    const primary = records.find(({ id }) => id === recordedPrimary)
    const followers = records.filter((shard) => shard.group === group && shard !== primary)
    if (primary === undefined) continue
    const missing = await carryToFollowers({ database, primary, followers, action }, deps)
    if (missing !== undefined && action !== undefined) await warnOf(action, missing.why, deps)
  }
}

/** A process that started anew has forgotten what people set at run time: its primary has not. */
async function dressAnew(scene: Scene, deps: Deps, memory: TurnMemory): Promise<void> {
  const runs = scene.seen.groups.flatMap(({ shards }) => shards.map(({ engine }) => engine?.runId ?? ''))
  const what = `users and settings of ${scene.database.uid}: ${runs.join(' ')}`
  if (memory.isTime(what, DRESS_EVERY_MS)) await dressAll(scene, deps)
}

/** How far behind users may be that somebody adds at run time, should the primary die. */
const DRESS_EVERY_MS = 60_000

/** Does what one group's verdict asks for. Answers after how many milliseconds to look again. */
async function actInLane(
  { group, verdict }: Lane,
  scene: Hands,
  deps: Deps,
  memory: TurnMemory,
  signal: AbortSignal,
): Promise<number> {
  switch (verdict.kind) {
    case 'done':
      return LATER_MS
    case 'wait':
      return scene.action === undefined ? SOON_MS * 10 : SOON_MS
    case 'hold':
      return HELD_MS
    case 'hopeless':
      return LATER_MS
    case 'stuck':
      if (verdict.retry !== undefined) await doStep(verdict.retry, group, scene, deps, signal)
      return LATER_MS
    case 'do': {
      const outcome = await doStep(verdict.step, group, scene, deps, signal)
      if (outcome.kind === 'hopeless') return meetHopelessness(outcome, group, scene, deps, memory)
      return afterStep(verdict.step.kind, outcome, { uid: scene.database.uid, group }, memory)
    }
  }
}

/** Found out in the doing: taken back while that is possible, else for people to see. */
async function meetHopelessness(
  obstacle: Obstacle,
  group: number,
  { database, action, goal, seen }: Scene,
  deps: Deps,
  memory: TurnMemory,
): Promise<number> {
  memory.held(database.uid, group, obstacle)
  if (action === undefined || !isUndoable(seen, goal)) return LATER_MS
  await deps.effect('give-up', () => giveUpAction(action, obstacle.why, deps))
  memory.forget(database.uid)
  return 0
}

function afterStep(
  step: Step['kind'],
  outcome: Exclude<Outcome, { kind: 'hopeless' }>,
  { uid, group }: { readonly uid: number; readonly group: number },
  memory: TurnMemory,
): number {
  memory.held(uid, group, outcome.kind === 'not yet' ? outcome : undefined)
  if (outcome.kind === 'not yet') return outcome.afterMs ?? SOON_MS
  memory.stepTaken(uid)
  return step === 'hand-over' ? AFTER_HANDOVER_MS : 0
}

/** A step that would break an invariant is a fault of ours: it is thrown, not carried out. */
async function doStep(
  step: Step,
  group: number,
  { database, action, goal, seen, moves }: Hands,
  deps: Deps,
  signal: AbortSignal,
): Promise<Outcome> {
  const mayGo = goal.kind === 'remove' || goal.discard
  const broken = violations(findGroup(seen, group), step, mayGo ? 'disabled' : goal.persistence)
  if (broken.length > 0) throw new Error(`the plan would break an invariant: ${broken.join('; ')}`)
  const everybody = await deps.shards.listOf(database.uid)
  const members = everybody.filter((shard) => shard.group === group)
  const scene = {
    database,
    group,
    seen: findGroup(seen, group),
    everybody,
    members,
    action,
    moves,
    deps,
    signal,
  }
  const outcome = await carryOut(step, scene)
  deps.log.info(
    { database: database.uid, group, step: step.kind, why: step.why, outcome },
    'step carried out',
  )
  return outcome
}
