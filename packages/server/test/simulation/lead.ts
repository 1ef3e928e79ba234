/** Leads an action on the tests' world to its end, turn by turn, with the product's steps. */

import { EngineError, EngineUnreachable } from '@fairlead/engine'
import { campaign } from '../../../../proof/campaign.ts'
import {
  findGroup,
  type ObservedDatabase,
  type ObservedGroup,
  type Step,
  type Verdict,
} from '../../src/core/state/topology.ts'
import { hasHandedOver } from '../../src/core/state/way-back.ts'
import { planLanes, type TurnState } from '../../src/reconcile/loop/decide.ts'
import { act, planTurn } from '../../src/reconcile/loop/reconcile-database.ts'
import type { Action } from './action.ts'
import { write } from './clients.ts'
import { compareLooks } from './compare-looks.ts'
import { gossip } from './gossip.ts'
import { look } from './look.ts'
import { arrive } from './processes.ts'
import { Died, type Server, startServer } from './server.ts'
import type { World } from './world.ts'

/** The result of a look, and the decision on it. */
export interface Moment {
  readonly seen: ObservedDatabase
  readonly now: number
  readonly lanes: TurnState['lanes']
}

export interface Watch {
  /** Called before anything of a turn is carried out. */
  readonly moment?: (moment: Moment, action: Action) => void
  /** The step of each lane that has one, with the plan's observation, before any of them is carried out. */
  readonly step?: (group: ObservedGroup, step: Step, moment: Moment, action: Action) => void
  /** The actions of people, and accidents, before each look. */
  readonly events?: (action: Action) => void
  /** After how many moments, before and after effects of the next turn, the server is killed. */
  readonly effects?: () => number
  /** Kills whatever dies together with the server. */
  readonly death?: (action: Action) => void
  /** Also uses the product's first half of a turn, 3 times slower. Default: only in simulation-shipped. */
  readonly isWhole?: boolean
}

export type End = { readonly kind: 'done' | 'stuck'; readonly why: string }

/** Uses the model's look by default, and compares it with the product's now and then (compare-looks.ts). */
const looksAsShipped = campaign().is('simulation-shipped')

const TURN_MS = 500
const MOST_TURNS = 1_500
/** An obstacle that lasted this many turns is one that only a person can end. */
const PATIENCE = 60

/** Leads the action to its end. Throws when it does not end. */
export async function lead(action: Action, watch: Watch = {}): Promise<End> {
  const { world } = action
  const { isWhole = looksAsShipped } = watch
  const start = () => startServer(action, () => watch.death?.(action))
  let waited = 0
  let server = start()
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    watch.events?.(action)
    if (server.isDead()) server = start()
    const dieSometime = () => server.dieAfter(watch.effects?.() ?? Number.POSITIVE_INFINITY)
    if (isWhole) dieSometime()
    const planned = await unlessTrouble(() => (isWhole ? planWhole(server) : plan(action, server)))
    if (planned !== undefined) {
      const moment = { ...planned, now: world.time.elapsed() }
      watch.moment?.(moment, action)
      const blocked = moment.lanes.map(({ verdict }) => verdict).find(({ kind }) => kind === 'stuck')
      waited = blocked === undefined ? 0 : waited + 1
      if (waited > PATIENCE && blocked !== undefined && 'why' in blocked)
        return { kind: 'stuck', why: blocked.why }
      for (const { group, step } of stepsOf(moment)) {
        watch.step?.(findGroup(moment.seen, group), step, moment, action)
        action.steps.push({ group, step })
      }
      // Asked again for a whole turn: some kills are placed by the steps, which were not known before.
      dieSometime()
      await unlessTrouble(() => act(planned, server.ports, server.memory, new AbortController().signal))
    }
    if (action.ended !== null) return await rest(action)
    await pass(world)
  }
  throw new Error(`the plan never ends: ${JSON.stringify((await plan(action, server)).lanes)}`)
}

/** A finished action stays finished, whatever is still under way. */
async function rest(action: Action): Promise<End> {
  for (let n = 0; n < 15; n++) await pass(action.world)
  const { lanes } = await plan(
    action,
    startServer(action, () => undefined),
  )
  const undone = lanes.find(({ verdict }) => verdict.kind !== 'done')
  if (undone !== undefined) throw new Error(`it was done, and is not any more: ${JSON.stringify(undone)}`)
  return { kind: 'done', why: '' }
}

/** Half a second between two turns. */
async function pass(world: World): Promise<void> {
  await world.time.pause(TURN_MS)
  write(world)
  arrive(world)
  gossip(world)
  write(world)
  if (world.fault !== null) throw new Error(world.fault)
}

/** Undefined: the server was killed, or an engine did not answer, or declines. The next turn looks again. */
async function unlessTrouble<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (cause) {
    if ([Died, EngineError, EngineUnreachable].some((kind) => cause instanceof kind)) return undefined
    throw cause
  }
}

/**
 * Plans with the product's code on the present world: the look costs no command and no time, and planTurn's
 * records and settings are skipped.
 */
async function plan(action: Action, server: Server): Promise<TurnState> {
  const { ports, memory } = server
  const { world, goal } = action
  const began = ports.time.elapsed()
  const seen = look(world)
  await compareLooks(world, server, seen)
  const now = ports.now()
  if (!goal.undo && seen.groups.every((group) => hasHandedOver(group, goal))) action.handedOverAt ??= now
  const [database, recorded] = [await ports.databases.get(1), await ports.actions.active(1)]
  if (database === undefined) throw new Error('there is no database')
  const turn = { began, database, action: recorded, goal, seen }
  return { ...turn, lanes: planLanes(turn, memory, now) }
}

async function planWhole({ ports, memory }: Server): Promise<TurnState> {
  const turn = await planTurn(1, ports, memory, new AbortController().signal)
  if ('next' in turn) throw new Error('the action was not begun')
  return turn
}

/** A step for each lane that has one; none when the turn gives the action up. */
function stepsOf({ lanes }: Moment): readonly { readonly group: number; readonly step: Step }[] {
  if (lanes.some(({ verdict }) => verdict.kind === 'hopeless')) return []
  return lanes.flatMap(({ group, verdict }) => {
    const step = stepOf(verdict)
    return step === undefined ? [] : [{ group, step }]
  })
}

function stepOf(verdict: Verdict): Step | undefined {
  if (verdict.kind === 'do') return verdict.step
  return verdict.kind === 'stuck' ? verdict.retry : undefined
}
