import { actionPhases } from '@fairlead/api'
import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import type { Action } from '../../../test/simulation/action.ts'
import type { Pick } from '../../../test/simulation/engines.ts'
import { lead, type Moment } from '../../../test/simulation/lead.ts'
import { kill, stall } from '../../../test/simulation/processes.ts'
import { note, recordedAction } from '../../../test/simulation/records-in-memory.ts'
import { propertyWithinMs, runsOf } from '../../../test/simulation/runs.ts'
import { beginUpgrade, type Shape, shapes } from '../../../test/simulation/upgrade.ts'
import { membersOf } from '../../../test/simulation/world.ts'
import { changed } from '../../core/progress/changed.ts'
import { allOrders, type OrderPreview, previewOrders } from '../../core/requests/preview-orders.ts'
import { type Order, resolveOrder } from '../../core/requests/resolve-order.ts'
import { outcomeOf } from '../../core/state/action-phase.ts'
import { plainPolicy } from '../../core/state/goal.ts'
import { hasHandedOver } from '../../core/state/way-back.ts'

/** A busy machine takes its time. */
const WITHIN_MS = 5 * propertyWithinMs

const stops = fc.record({
  supervised: fc.boolean(),
  rollbackWindow: fc.constantFrom<(number | 'until-finalized')[]>(0, 5, 'until-finalized'),
})

test(
  'at every moment an action has one phase, waits if and only if nothing is being done, and tells it in its lanes',
  async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        shapes,
        stops,
        fc.nat({ max: 3 }),
        fc.nat({ max: 9 }),
        async (shape, policy, kills, deaths) => {
          const { action, pick } = begin(shape, policy)
          action.world.stalls = kills
          const check = checkMoments(seen)
          await lead(action, {
            isWhole: true,
            moment: check,
            effects: dying(pick, deaths),
            events: (one) => {
              hurting(pick, kills)(one)
              goOn(one, pick)
            },
          })
          // One that was interrupted is completed by other steps.
          expect(handoversTold(action)).toBeLessThanOrEqual(handoversMade(action))
          if (kills + deaths === 0) expect(handoversTold(action)).toBe(handoversMade(action))
        },
      ),
      runsOf(15),
    )
    expect([...seen].toSorted()).toEqual(
      expect.arrayContaining(['handing_over', 'preparing', 'ready', 'window']),
    )
  },
  WITHIN_MS,
)

test.for(allOrders)(
  '%s, if it is offered, works, leads to the phase that it names, and to the end that it names',
  { timeout: WITHIN_MS },
  async (order) => {
    let given = 0
    const policies = policiesFor(order)
    await fc.assert(
      fc.asyncProperty(
        shapes,
        fc.constantFrom(...policies),
        fc.nat({ max: 25 }),
        async (shape, policy, turns) => {
          const { action, pick } = begin(shape, policy)
          let left = turns
          let promised: OrderPreview | undefined
          await lead(action, {
            isWhole: true,
            effects: dying(pick, 5),
            events: (one) => {
              left -= 1
              if (promised === undefined && left <= 0) {
                // Only what is being taken back can be done again.
                if (order === 'redo') give(one, 'rollback')
                promised = give(one, order)
              }
              // What waits for this order gets no other, nor what is to end by itself.
              const mayGoOn = promised === undefined ? policies.length > 1 : promised.outcome === null
              if (mayGoOn) goOn(one, pick)
            },
          })
          if (promised === undefined) return
          given += 1
          if (promised.outcome !== null) expect(outcomeOf(recordedAction(action))).toBe(promised.outcome)
        },
      ),
      { ...runsOf(5), examples: [[plainShape, policies[0] ?? plainPolicy, 0]] },
    )
    expect(given).toBeGreaterThan(0)
  },
)

const supervised = { ...plainPolicy, supervised: true }
const untilFinalized = { ...plainPolicy, rollbackWindow: 'until-finalized' } as const
const plainShape: Shape = {
  seed: 1,
  groups: 1,
  replicas: 1,
  aof: false,
  preserveRoles: false,
  parallel: 0,
  canary: true,
  restart: false,
}

/** Some orders are only offered where an upgrade waits for them. */
function policiesFor(order: Order) {
  if (order === 'finalize') return [untilFinalized]
  return order === 'resume' ? [supervised] : [plainPolicy, untilFinalized, supervised]
}

function begin(
  shape: Shape,
  policy: { readonly supervised: boolean; readonly rollbackWindow: number | 'until-finalized' },
) {
  const groups = 1 + (shape.groups % 2)
  const replicas = shape.replicas % 3
  return beginUpgrade({ ...shape, groups, replicas }, { policy: { ...plainPolicy, ...policy } })
}

const atOf = ({ world }: Action) => new Date(world.time.elapsed()).toISOString()

function previewsOf(action: Action) {
  const scene = {
    forbidden: undefined,
    haveAllLeft: false,
    whyNotAgain: undefined,
    handovers: [],
    at: atOf(action),
  }
  return previewOrders(recordedAction(action), scene)
}

/** Gives the order, if it is offered; answers what was promised of it. */
function give(action: Action, order: Order): OrderPreview | undefined {
  const preview = previewsOf(action)[order]
  const before = recordedAction(action)
  const change = resolveOrder(before, order, { by: 'somebody', at: atOf(action) })
  expect('refused' in change).toBe(!preview.ok)
  if ('refused' in change) return undefined
  note(action, changed(before, change, atOf(action)))
  expect(recordedAction(action).phase).toBe(preview.leadsTo)
  return preview
}

/** After a while, a person lets it go on where it waits for one. */
function goOn(action: Action, pick: Pick): void {
  if (pick(4) > 0) return
  const { phase, goal } = recordedAction(action)
  if (phase === 'ready' || phase === 'paused') give(action, 'resume')
  else if (phase === 'window' && goal.policy.rollbackWindow === 'until-finalized') give(action, 'finalize')
}

/** Compares each moment with what the plan says, and with the moment before it. */
function checkMoments(phases: Set<string>): (moment: Moment, action: Action) => void {
  let before: { readonly progress: number; readonly due: ReadonlySet<string> } = {
    progress: 0,
    due: new Set(),
  }
  return ({ seen, lanes }, action) => {
    const record = recordedAction(action)
    const { phase, waiting, progress, goal } = record
    expect(Object.keys(actionPhases)).toContain(phase)
    phases.add(phase)
    const open = lanes.filter(({ verdict }) => verdict.kind !== 'done')
    const due = new Set(
      open.flatMap(({ group, verdict }) =>
        // Why it is due may change on the way.
        verdict.kind === 'do' ? [JSON.stringify({ group, ...verdict.step, why: '' })] : [],
      ),
    )
    const isHopeless = open.some(({ verdict }) => verdict.kind === 'hopeless')
    if (waiting === null) expect(due.size > 0 || isHopeless || open.length === 0).toBe(true)
    else {
      expect(isHopeless).toBe(false)
      // What is due now was due before, and could not be done.
      for (const step of due) expect(before.due).toContain(step)
    }
    const isStuck = open.some(
      ({ verdict }) => verdict.kind === 'stuck' || (verdict.kind === 'do' && verdict.late !== undefined),
    )
    expect(phase === 'stuck').toBe(isStuck && waiting !== null)
    if (phase === 'window') expect(seen.groups.every((group) => hasHandedOver(group, goal))).toBe(true)
    if (phase === 'ready') expect(seen.groups.some((group) => !hasHandedOver(group, goal))).toBe(true)
    expect(progress).toBeGreaterThanOrEqual(before.progress)
    expectTold(lanes, action)
    before = { progress, due }
  }
}

/** Each lane tells of one step at most that it runs, and of that which is due. */
function expectTold(lanes: Moment['lanes'], action: Action): void {
  for (const { group, verdict } of lanes) {
    const running = action.lanes.get(group)?.steps.filter(({ state }) => state === 'running') ?? []
    expect(running.map(({ kind }) => kind)).toEqual(verdict.kind === 'do' ? [verdict.step.kind] : [])
  }
}

function handoversTold({ lanes }: Action): number {
  const steps = [...lanes.values()].flatMap((lane) => lane.steps)
  return steps.filter(({ kind, state }) => kind === 'hand-over' && state === 'done').length
}

function handoversMade({ world }: Action): number {
  return world.teams.flatMap(({ handovers }) => handovers).filter(({ certificate }) => certificate !== null)
    .length
}

/** The server dies after some effects, this many times. */
function dying(pick: Pick, deaths: number): () => number {
  let left = deaths
  return () => {
    if (left === 0 || pick(3) > 0) return Number.POSITIVE_INFINITY
    left -= 1
    return pick(9)
  }
}

/** Engines are killed, and others stall. */
function hurting(pick: Pick, most: number): (action: Action) => void {
  return ({ world }) => {
    if (most === 0 || pick(40) > 0) return
    const members = membersOf(world).filter(({ engine }) => engine !== null)
    const victim = members[pick(members.length)]
    if (victim === undefined) return
    if (pick(2) === 0 && victim.engine?.role === 'replica') stall(world, victim)
    else if (members.length > 1) kill(world, victim)
  }
}
