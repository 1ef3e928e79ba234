import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { goalOf, noMemory, shardedOf } from '../../../test/simulation/group.ts'
import { lead } from '../../../test/simulation/lead.ts'
import { look } from '../../../test/simulation/look.ts'
import { runsOf } from '../../../test/simulation/runs.ts'
import {
  beginUpgrade,
  expectReached,
  expectSound,
  hasHandedOver,
  isFinal,
  linkedOf,
  primaryOf,
  shapes,
} from '../../../test/simulation/upgrade.ts'
import { foresee } from '../dry-run/foresee.ts'
import { plainPolicy, revisionOf } from '../state/goal.ts'
import { unrestricted } from '../state/orders.ts'
import { findGroup, type Goal, isLinked, type ObservedGroup, type Step } from '../state/topology.ts'
import { planDatabase } from './plan-database.ts'

const some = runsOf(20)
const done = { kind: 'done', why: '' }

describe('an upgrade of a database', () => {
  test('ends with every shard on the goal, roles as asked, and every acknowledged write', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade(shape)
        expect(await lead(action, { step: expectSound })).toEqual(done)
        expectReached(action)
        const primaries = action.world.teams.map(({ recorded }) => recorded)
        if (shape.preserveRoles) expect(primaries).toEqual(action.asked.homes)
      }),
      some,
    )
  })

  test('is carried out step by step as the dry run says, as long as it is not sharded', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade({ ...shape, groups: 1 })
        const foreseen = foresee(look(action.world), action.goal)
        // Handovers that held clients without moving the role, and retirements that take longer, are tried
        // again.
        const taken = (group: number) => [
          ...new Set(action.steps.filter((one) => one.group === group).flatMap(({ step }) => nameOf(step))),
        ]
        expect(await lead(action)).toEqual(done)
        for (const { number } of action.world.teams) {
          const plan = foreseen.filter(({ group }) => group === number).flatMap(({ step }) => nameOf(step))
          expect(taken(number).toSorted()).toEqual([...new Set(plan)].toSorted())
        }
      }),
      some,
    )
  })

  test('never leaves a group with fewer followers than it had, because of a step', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade(shape)
        const step = (seen: ObservedGroup, { kind, ...rest }: Step) => {
          if ((kind !== 'restart-shard' && kind !== 'retire-shard') || !('shard' in rest)) return
          const shard = seen.shards.find(({ id }) => id === rest.shard)
          if (shard?.leaving === true) return
          const others = { ...seen, shards: seen.shards.filter((one) => one !== shard) }
          expect(linkedOf(others)).toBeGreaterThanOrEqual(shape.replicas)
        }
        expect(await lead(action, { step })).toEqual(done)
      }),
      some,
    )
  })

  // invariant: Nothing old is given up before every group has handed over.
  test('gives up nothing old in any group before all groups have handed over', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade(shape)
        await lead(action, {
          step: (seen, step, moment, { goal }) => {
            if (!isFinal(step, seen, goal)) return
            expect(moment.seen.groups.every((group) => hasHandedOver(group, goal))).toBe(true)
          },
        })
      }),
      some,
    )
  })

  test('touches only the canary until it has handed over', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade({ ...shape, canary: true })
        await lead(action, {
          step: ({ group }, _, { seen }, { goal }) => {
            const [canary] = seen.groups
            if (group > 0) expect(canary !== undefined && hasHandedOver(canary, goal)).toBe(true)
          },
        })
      }),
      some,
    )
  })

  test('moves no role but the canary’s before every group has a successor', async () => {
    const moves = fc.record({ groups: fc.integer({ min: 2, max: 6 }), parallel: fc.nat({ max: 2 }) })
    await fc.assert(
      fc.asyncProperty(shapes, moves, async (shape, change) => {
        const { action } = beginUpgrade({ ...shape, ...change, restart: false })
        const end = await lead(action, {
          step: ({ group }, step, { seen }, { goal }) => {
            const ahead = shape.canary && group === 0
            if (step.kind !== 'hand-over' || ahead || hasHandedOver(findGroup(seen, group), goal)) return
            const without = seen.groups.filter((one) => !hasHandedOver(one, goal) && !hasSuccessor(one, goal))
            expect(without).toEqual([])
          },
        })
        expect(end).toEqual(done)
      }),
      some,
    )
  })

  test('has no more shards in hand at once than it may', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.integer({ min: 1, max: 4 }), async (shape, parallel) => {
        const { action } = beginUpgrade({ ...shape, parallel })
        const end = await lead(action, {
          moment: ({ seen, lanes }) => {
            const inHand = seen.groups.flatMap((group) => onTheirWay(group, revisionOf(action.goal)))
            const due = lanes.filter(({ verdict }) => verdict.kind === 'do' && isStart(verdict.step))
            if (due.length > 0) expect(inHand.length + due.length).toBeLessThanOrEqual(parallel)
          },
        })
        expect(end).toEqual(done)
      }),
      some,
    )
  })

  test('begins no handover while another group’s holds clients', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade({ ...shape, canary: false })
        await lead(action, {
          moment: ({ seen, lanes }) => {
            const open = seen.groups.filter(({ handover }) => handover !== null && !handover.released)
            const due = lanes.filter(
              ({ verdict }) => verdict.kind === 'do' && verdict.step.kind === 'hand-over',
            )
            if (open.length > 0) expect(due).toEqual([])
          },
        })
      }),
      some,
    )
  })

  test('goes in place where there is no memory for a surge shard, and loses nothing', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade(
          { ...shape, aof: shape.aof || shape.replicas === 0 },
          { inPlace: shape.replicas === 0 },
        )
        action.world.memoryFreeBytes = noMemory.memoryFreeBytes
        expect(await lead(action, { step: expectSound })).toEqual(done)
        expectReached(action)
        expect(action.steps.map(({ step }) => step.kind)).not.toContain('add-shard')
      }),
      some,
    )
  })

  test('that discards begins empty, and retires the primary of a group after its replicas', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { action } = beginUpgrade(shape, { discard: true, preserveRoles: false })
        const end = await lead(action, {
          step: (seen, step, _, { goal }) => {
            expectSound(seen, step)
            if (step.kind !== 'retire-shard' || primaryOf(seen)?.id !== step.shard) return
            expect(seen.shards.filter(({ wanted }) => revisionOf(wanted) !== revisionOf(goal)).length).toBe(1)
          },
        })
        expect(end).toEqual(done)
        for (const team of action.world.teams) for (const id of team.acknowledged) team.lost.add(id)
        expectReached(action)
      }),
      some,
    )
  })
})

test('a canary whose new primary died does not wait for a group that waits for the canary', () => {
  const seen = shardedOf(2, 0)
  // Group 1 began when the canary had handed over: its surge shard is on record, and was not started yet.
  const groups = seen.groups.map((group) => {
    const [primary] = group.shards
    if (group.group === 0 || primary === undefined) return group
    const surge = {
      id: 9,
      address: { host: '', port: 9 },
      wanted: goalOf(),
      revision: null,
      follows: primary.id,
    }
    return {
      ...group,
      shards: [primary, { ...primary, ...surge, process: 'absent' as const, engine: null }],
    }
  })
  const goal = goalOf({
    groups: 2,
    cluster: true,
    replicas: 0,
    homes: [1, 2],
    policy: { ...plainPolicy, canary: true, parallel: 1 },
  })
  expect(planDatabase({ groups }, goal, unrestricted)).toMatchObject([
    { verdict: { kind: 'hold', code: 'parallel_limit' } },
    { verdict: { kind: 'do', step: { kind: 'start-shard', shard: 9 } } },
  ])
})

describe('people', () => {
  const risky = ['hand-over', 'restart-primary']

  test('a supervising user is asked before the first handover, and nothing old was touched until then', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.boolean(), async (shape, discard) => {
        const { action } = beginUpgrade(shape, {
          discard,
          policy: { ...plainPolicy, parallel: shape.parallel, canary: shape.canary, supervised: true },
        })
        let asked = 0
        const end = await lead(action, {
          moment: ({ lanes }) => {
            const isAsked = lanes.some(({ verdict }) => verdict.kind === 'hold' && verdict.on === 'person')
            if (isAsked) asked += 1
            if (asked > 3) action.orders = { ...action.orders, proceed: true }
          },
          step: (_, { kind }) => {
            if (asked <= 3) expect([...risky, 'retire-shard', 'restart-shard']).not.toContain(kind)
          },
        })
        expect(end).toEqual(done)
        expect(asked).toBeGreaterThan(3)
      }),
      some,
    )
  })

  test('while it is paused nothing new begins until it is resumed', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.boolean(), async (shape, discard) => {
        const { action, pick } = beginUpgrade(shape, { discard })
        const begun = [...risky, 'add-shard', 'restart-shard', 'enable-aof']
        const end = await lead(action, {
          events: () => {
            if (pick(6) === 0) action.orders = { ...action.orders, paused: !action.orders.paused }
          },
          step: (seen, step) => {
            if (!action.orders.paused) return
            // A group without any shard is broken, and mended.
            if (seen.shards.length > 0) expect(begun).not.toContain(step.kind)
            if (step.kind === 'retire-shard')
              expect(seen.shards.find(({ id }) => id === step.shard)?.leaving).toBe(true)
          },
        })
        expect(end).toEqual(done)
      }),
      some,
    )
  })

  /**
   * The old primary of one group needs seconds to resume the stream of its successor, while the other groups
   * already wait for the window.
   */
  const slowToFollow = {
    seed: 28,
    groups: 4,
    replicas: 0,
    aof: false,
    preserveRoles: false,
    parallel: 0,
    canary: true,
    restart: false,
  }

  // invariant: Nothing old is given up before a person or the time permits it.
  test('keep every standby until they finalize, or the rollback window is over', async () => {
    await fc.assert(
      fc.asyncProperty(
        shapes,
        fc.constantFrom(5, 20, 'until-finalized' as const),
        async (shape, rollbackWindow) => {
          const { parallel, canary } = shape
          const policy = { ...plainPolicy, parallel, canary, rollbackWindow }
          const { action } = beginUpgrade(shape, { policy })
          const windowMs =
            rollbackWindow === 'until-finalized' ? Number.POSITIVE_INFINITY : rollbackWindow * 1000
          let turnsHeld = 0
          const end = await lead(action, {
            moment: ({ seen, lanes, now }) => {
              if (lanes.every(({ verdict }) => verdict.kind === 'hold')) turnsHeld++
              if (rollbackWindow === 'until-finalized' && turnsHeld === 10)
                action.orders = { ...action.orders, finalize: true }
              if (action.orders.finalize) return
              // The window begins with the last handover, not when its followers have resumed the stream.
              const { handedOverAt } = action
              if (handedOverAt === null || now >= handedOverAt + windowMs) return
              for (const group of seen.groups) expect(hasStandby(group)).toBe(true)
            },
            step: (seen, step, { now }, { goal, orders, handedOverAt }) => {
              if (!isFinal(step, seen, goal) || orders.finalize) return
              expect(rollbackWindow).not.toBe('until-finalized')
              expect(now - (handedOverAt ?? now)).toBeGreaterThanOrEqual(windowMs)
            },
          })
          expect(end).toEqual(done)
          if (rollbackWindow === 'until-finalized') expect(turnsHeld).toBeGreaterThanOrEqual(10)
          expectReached(action)
        },
      ),
      { ...some, examples: [[slowToFollow, 5]] },
    )
  })
})

/** A handover is tried until it succeeds and a retirement until the process is gone: each counts once. */
function nameOf(step: Step): string[] {
  if (step.kind === 'hand-over') return [`hand-over to ${step.to}`]
  // Gossip may have told every shard already, and accidents of timing need repairs of records that were not
  // foreseen.
  if (
    ['meet', 'forget-node', 'follow', 'record-follows', 'record-primary', 'seal-handover'].includes(step.kind)
  )
    return []
  return ['shard' in step ? `${step.kind} ${step.shard}` : step.kind]
}

const isStart = ({ kind }: Step) => kind === 'add-shard' || kind === 'restart-shard'

function onTheirWay(seen: ObservedGroup, revision: string): readonly number[] {
  const primary = primaryOf(seen)
  return seen.shards
    .filter((shard) => shard !== primary && !shard.leaving && revisionOf(shard.wanted) === revision)
    .filter((shard) => shard.revision !== revision || primary === undefined || !isLinked(shard, primary))
    .map(({ id }) => id)
}

function hasSuccessor(seen: ObservedGroup, goal: Goal): boolean {
  const primary = primaryOf(seen)
  return (
    primary !== undefined &&
    seen.shards.some((shard) => shard.revision === revisionOf(goal) && isLinked(shard, primary))
  )
}

function hasStandby({ shards, standby }: ObservedGroup): boolean {
  return shards.some(({ id, leaving }) => id === standby?.shard && !leaving)
}
