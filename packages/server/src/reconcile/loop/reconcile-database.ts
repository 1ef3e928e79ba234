import { createMutex, inSpan, underRequest, underTrace } from '@fairlead/engine'
import { nextEndMs } from '../../core/access/former-access.ts'
import { isUndoable } from '../../core/plan/apply-deadlines.ts'
import { violations } from '../../core/plan/invariants.ts'
import type { Action } from '../../core/state/action.ts'
import { steadyGoal } from '../../core/state/database.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { findGroup, type Step } from '../../core/state/topology.ts'
import { observe } from '../look/observe.ts'
import { giveUpAction } from '../records/give-up-action.ts'
import { hasToWait } from '../records/note-wait.ts'
import { spanOfAction } from '../records/trace-records.ts'
import { carryOut } from '../steps/carry-out.ts'
import type { Outcome } from '../turn/outcome.ts'
import type { HandoverQueue } from '../turn/step-context.ts'
import { type Cause, forOneTurn, type TurnMemory } from '../turn/turn-memory.ts'
import { decide, type TurnState } from './decide.ts'
import { HELD_MS, isAgentWatching, pauseOfWait, SOON_MS } from './pause-of-wait.ts'
import { serializeMoves } from './serialize-moves.ts'
import { resyncSettings, syncSettings } from './sync-settings.ts'
import type { TurnPorts } from './turn-ports.ts'

/** The turn when no work is left. */
const atRest = { next: 'watch', dueMs: Number.POSITIVE_INFINITY } as const

/** When to look at a database again. If a turn throws: with backoff. */
export type Turn =
  | { readonly next: 'gone' }
  /** No work: look on a change, periodically, and in `dueMs` at the latest. */
  | { readonly next: 'watch'; readonly dueMs: number }
  /** `handsOver`: a role moves next. */
  | { readonly next: 'again'; readonly afterMs: number; readonly handsOver?: boolean }

/** Released clients ask this server process for the primary after a handover: they come first. */
const AFTER_HANDOVER_MS = 50
/** Time of the first turn of a new database at rest. */
const SETTLED_MS = 1_000
/** Pause while a person has to act. */
const LATER_MS = 5_000

/** Takes one turn: look, decide, do one step in each group, look again. All decisions are in core/. */
export async function reconcileDatabase(
  uid: number,
  ports: TurnPorts,
  memory: TurnMemory,
  signal: AbortSignal,
  cause: Cause = 'change',
): Promise<Turn> {
  const ofTurn = forOneTurn(memory, uid, cause)
  const turn = await underRequest(undefined, () => planTurn(uid, ports, ofTurn, signal))
  // Logs the action's id instead of the request's: its work may outlast this process.
  const next = 'next' in turn ? turn : await underAction(turn.action, () => act(turn, ports, ofTurn, signal))
  const former = 'next' in turn ? [] : turn.database.former
  const dueMs = Math.min(ofTurn.endOfTurn(), nextEndMs(former, ports.now()))
  return next.next === 'watch' ? { ...next, dueMs: Math.min(next.dueMs, dueMs) } : next
}

/** Runs `work` with the action's id in logs, and in the trace of the request that began it. */
function underAction<T>(action: Action | undefined, work: () => T): T {
  const traced = action === undefined ? work : () => underTrace(action.trace, spanOfAction(action.uid), work)
  return underRequest(action?.uid, traced)
}

/** Does the first half of a turn: look and decide. Returns the work, or when to look again. */
export async function planTurn(
  uid: number,
  ports: TurnPorts,
  memory: TurnMemory,
  signal: AbortSignal,
): Promise<TurnState | Turn> {
  const database = await ports.databases.get(uid)
  if (database === undefined) return { next: 'gone' }
  const action = await ports.actions.active(uid)
  if (action === undefined && database.status === 'creation-failed') return atRest
  const queuedMs = action && (await hasToWait(action, ports))
  if (queuedMs !== undefined) return { next: 'again', afterMs: queuedMs }

  const began = ports.time.elapsed()
  const goal = action?.goal ?? steadyGoal(database)
  const seen = await observe(database, ports, signal)
  return decide({ began, database, action, goal, seen }, ports, memory)
}

type ActingTurn = TurnState & { readonly moves: HandoverQueue }

/** Does the second half of a turn: carries out one step in each group. Returns when to look again. */
export async function act(
  turn: TurnState,
  ports: TurnPorts,
  memory: TurnMemory,
  signal: AbortSignal,
): Promise<Turn> {
  const { began, database, action, lanes } = turn
  if (lanes.every(({ verdict }) => verdict.kind === 'done')) return finish(turn, ports, memory)

  const lost = lanes.find(({ verdict }) => verdict.kind === 'hopeless')
  if (lost?.verdict.kind === 'hopeless' && action !== undefined) {
    const { why } = lost.verdict
    await ports.effect('give-up', () => giveUpAction(action, { why, group: lost.group }, ports))
    memory.forget(database.uid)
    return { next: 'again', afterMs: 0 }
  }
  const hands = {
    ...turn,
    moves: serializeMoves(ports.time.elapsed() - began, lanes.every(isAtHandover), ports.time),
  }
  const queues = Array.from({ length: STEPS_AT_ONCE }, () => createMutex())
  const turns = await Promise.allSettled(
    lanes.map(
      async (lane, n) =>
        queues[n % queues.length]?.(() => actInLane(lane, hands, ports, memory, signal)) ?? 0,
    ),
  )
  const failed = turns.find((turn) => turn.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return {
    next: 'again',
    afterMs: Math.min(...turns.map((turn) => ('value' in turn ? turn.value : 0))),
    handsOver: lanes.some(handsOver),
  }
}

/** True for steps that others wait for: clients, or groups whose role has already moved. */
function handsOver({ verdict }: Lane): boolean {
  return verdict.kind === 'do' && ['hand-over', 'seal-handover'].includes(verdict.step.kind)
}

/** For all groups: with more, the node's disk would exceed the deadline of a command. */
const STEPS_AT_ONCE = 16

/** True if the group has reached its handover, or has to wait for other groups. */
function isAtHandover({ verdict }: Lane): boolean {
  if (verdict.kind !== 'do') return verdict.kind !== 'wait'
  return ['hand-over', 'record-follows', 'seal-handover'].includes(verdict.step.kind)
}

async function finish(turn: TurnState, ports: TurnPorts, memory: TurnMemory): Promise<Turn> {
  const { database, action } = turn
  if (action === undefined) {
    await resyncSettings(turn, ports, memory)
    return atRest
  }
  if (action.kind === 'upgrade') await syncSettings(turn, ports)
  const at = new Date(ports.now()).toISOString()
  await ports.effect('finish', () => ports.actions.finish(action, database, at))
  memory.forget(database.uid)
  // The upkeep of a database at rest was done in this turn, too.
  return action.kind === 'create' ? { next: 'watch', dueMs: SETTLED_MS } : { next: 'again', afterMs: 0 }
}

/** Carries out a group's verdict. Returns the ms until the next look. */
async function actInLane(
  { group, verdict }: Lane,
  turn: ActingTurn,
  ports: TurnPorts,
  memory: TurnMemory,
  signal: AbortSignal,
): Promise<number> {
  switch (verdict.kind) {
    case 'done':
      return LATER_MS
    case 'wait':
      return turn.action === undefined
        ? SOON_MS * 10
        : pauseOfWait(
            memory.waitedMs(turn.database.uid, group, verdict),
            isAgentWatching(turn.seen, verdict.shard),
          )
    case 'hold':
      return HELD_MS
    case 'hopeless':
      return LATER_MS
    case 'stuck':
      if (verdict.retry !== undefined) await doStep(verdict.retry, group, turn, ports, signal)
      return LATER_MS
    case 'do': {
      const outcome = await doStep(verdict.step, group, turn, ports, signal)
      if (outcome.kind === 'hopeless') return meetHopelessness(outcome, group, turn, ports, memory)
      const afterMs = afterStep(verdict.step.kind, outcome, { uid: turn.database.uid, group }, memory)
      return verdict.late === undefined ? afterMs : Math.max(HELD_MS, afterMs)
    }
  }
}

/** Called if a step found the goal unreachable: takes the upgrade back, or leaves it to a person. */
async function meetHopelessness(
  obstacle: Obstacle,
  group: number,
  { database, action, goal, seen }: TurnState,
  ports: TurnPorts,
  memory: TurnMemory,
): Promise<number> {
  memory.held(database.uid, group, obstacle)
  if (action === undefined || !isUndoable(seen, goal)) return LATER_MS
  await ports.effect('give-up', () => giveUpAction(action, { why: obstacle.why, group }, ports))
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
  if (startsProcess(step)) return HELD_MS
  return step === 'hand-over' ? AFTER_HANDOVER_MS : 0
}

/** True if the agent now starts a process, and reports how that ends. */
function startsProcess(step: Step['kind']): boolean {
  return step === 'add-shard' || step === 'start-shard' || step === 'restart-shard'
}

/** A step that breaks an invariant is a bug: it throws and is not carried out. */
async function doStep(
  step: Step,
  group: number,
  { database, action, goal, seen, moves }: ActingTurn,
  ports: TurnPorts,
  signal: AbortSignal,
): Promise<Outcome> {
  const mayGo = goal.kind === 'remove' || goal.discard
  const broken = violations(findGroup(seen, group), step, mayGo ? 'disabled' : goal.persistence)
  if (broken.length > 0) throw new Error(`the plan would break an invariant: ${broken.join('; ')}`)
  const everybody = await ports.shards.listOf(database.uid)
  const members = everybody.filter((shard) => shard.group === group)
  const about = { database, group, seen: findGroup(seen, group), everybody, members, action }
  const attributes = { 'fairlead.group': group, 'fairlead.why': step.why }
  const outcome = await inSpan({ name: `step ${step.kind}`, attributes }, () =>
    carryOut(step, { ...about, moves, ports, signal }),
  )
  ports.log.info(
    { database: database.uid, group, step: step.kind, why: step.why, outcome },
    'step carried out',
  )
  return outcome
}
