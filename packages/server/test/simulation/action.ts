/** An action on the tests' world from its request to its end, turn by turn, as reconcile-database.ts leads it. */

import { isUndoable, judge } from '../../src/core/plan/judge.ts'
import { planDatabase } from '../../src/core/plan/plan-database.ts'
import { undoGoal } from '../../src/core/state/action.ts'
import { leaveOf, noOrders, type Orders } from '../../src/core/state/orders.ts'
import {
  findGroup,
  type Goal,
  type Seen,
  type SeenDatabase,
  type Step,
  type Verdict,
} from '../../src/core/state/topology.ts'
import { hasLeft, wayBack } from '../../src/core/state/way-back.ts'
import { gossip } from './gossip.ts'
import { carryOut } from './hands.ts'
import { look } from './look.ts'
import { arrive, type World, write } from './world.ts'

export interface Action {
  readonly world: World
  readonly asked: Goal
  goal: Goal
  orders: Orders
  handedOverAt: number | null
  error: string | null
  /** For which shard each group waits, and since when. */
  readonly waits: Map<number, { readonly shard: number; readonly since: number }>
  readonly steps: { readonly group: number; readonly step: Step }[]
}

/** What a look has shown, and what was decided on it. */
export interface Moment {
  readonly seen: SeenDatabase
  readonly now: number
  readonly lanes: ReturnType<typeof planDatabase>
}

export interface Watch {
  /** Before anything of a turn is carried out. */
  readonly moment?: (moment: Moment, action: Action) => void
  /** `database` is what is seen at that very moment, after the other lanes' steps. */
  readonly step?: (group: Seen, step: Step, moment: Moment, action: Action) => void
  /** What people and accidents do, before each look. */
  readonly events?: (action: Action) => void
  /** After how many effects of the next step the server is killed. */
  readonly effects?: () => number
  /** What dies with the server, in that very moment. */
  readonly death?: (action: Action) => void
}

export type End = { readonly kind: 'done' | 'stuck'; readonly why: string }

export function actionOf(world: World, asked: Goal): Action {
  return {
    world,
    asked,
    goal: asked,
    orders: noOrders,
    handedOverAt: null,
    error: null,
    waits: new Map(),
    steps: [],
  }
}

const TURN_MS = 500
const MOST_TURNS = 1_500
/** An obstacle that lasted so many turns is one that nothing but a person ends. */
const PATIENCE = 60

/** Leads it to its end. Throws when there is none. */
export function lead(action: Action, watch: Watch = {}): End {
  const { world } = action
  let waited = 0
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    watch.events?.(action)
    const moment = take(action)
    watch.moment?.(moment, action)
    const verdicts = moment.lanes.map(({ verdict }) => verdict)
    if (verdicts.every(({ kind }) => kind === 'done')) return rest(action)
    const blocked = verdicts.find(({ kind }) => kind === 'stuck')
    waited = blocked === undefined ? 0 : waited + 1
    if (waited > PATIENCE && blocked !== undefined && 'why' in blocked)
      return { kind: 'stuck', why: blocked.why }
    const hopeless = verdicts.find((verdict) => verdict.kind === 'hopeless')
    if (hopeless !== undefined) giveUp(action, hopeless.why)
    else act(action, moment, watch)
    pass(world)
  }
  const last = take(action).lanes.map(({ verdict }) => JSON.stringify(verdict))
  throw new Error(`the plan never ends: ${last.join(' | ')}`)
}

/** What is done stays done, whatever is still on its way. */
function rest(action: Action): End {
  for (let n = 0; n < 15; n++) pass(action.world)
  const undone = take(action).lanes.find(({ verdict }) => verdict.kind !== 'done')
  if (undone !== undefined) throw new Error(`it was done, and is not any more: ${JSON.stringify(undone)}`)
  return { kind: 'done', why: '' }
}

function pass(world: World): void {
  write(world)
  arrive(world)
  gossip(world)
  write(world)
}

function take({ world, goal, orders, handedOverAt, waits }: Action): Moment {
  const seen = look(world)
  const now = world.turn * TURN_MS
  const undoable = isUndoable(seen, goal)
  const planned = planDatabase(seen, goal, leaveOf(goal, orders, handedOverAt, now))
  const lanes = planned.map(({ group, verdict }) => ({
    group,
    verdict: judge(verdict, waitedMs(waits, group, verdict, now), findGroup(seen, group), undoable),
  }))
  return { seen, now, lanes }
}

function waitedMs(waits: Action['waits'], group: number, verdict: Verdict, now: number): number {
  const shard = verdict.kind === 'wait' ? verdict.shard : null
  const known = waits.get(group)
  if (shard === null) waits.delete(group)
  else if (known?.shard !== shard) waits.set(group, { shard, since: now })
  else return now - known.since
  return 0
}

function act(action: Action, moment: Moment, watch: Watch): void {
  const { world, goal } = action
  const { seen, now } = moment
  if (!goal.undo && seen.groups.every((group) => hasLeft(group, goal))) action.handedOverAt ??= now
  for (const { group, verdict } of moment.lanes) {
    const step = stepOf(verdict)
    const team = world.teams.find(({ number }) => number === group)
    if (step === undefined || team === undefined) continue
    watch.step?.(findGroup(seen, group), step, moment, action)
    action.steps.push({ group, step })
    const effects = watch.effects?.() ?? Number.POSITIVE_INFINITY
    const errorsSeen = new Map(
      findGroup(seen, group).shards.map(({ id, engine }) => [id, engine?.errorReplies ?? 0]),
    )
    if (carryOut(world, team, step, effects, errorsSeen)) continue
    watch.death?.(action)
    return
  }
}

function stepOf(verdict: Verdict): Step | undefined {
  if (verdict.kind === 'do') return verdict.step
  return verdict.kind === 'stuck' ? verdict.retry : undefined
}

export function giveUp(action: Action, why: string): void {
  Object.assign(action, { goal: undoGoal(action.goal), error: why, handedOverAt: null })
}

/** Somebody wants it as it was, if that is possible now. Returns whether it was. */
export function undo(action: Action): boolean {
  const { eligible } = wayBack(look(action.world), action.asked)
  if (eligible && !action.goal.undo) giveUp(action, 'somebody asked for it')
  return eligible
}
