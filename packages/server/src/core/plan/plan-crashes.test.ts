import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import type { Action } from '../../../test/simulation/action.ts'
import type { Pick } from '../../../test/simulation/engines.ts'
import { lead, type Moment } from '../../../test/simulation/lead.ts'
import { kill, stall } from '../../../test/simulation/processes.ts'
import { propertyWithinMs, runsOf } from '../../../test/simulation/runs.ts'
import {
  beginUpgrade,
  expectReached,
  expectSound,
  type Shape,
  shapes,
} from '../../../test/simulation/upgrade.ts'
import { membersOf } from '../../../test/simulation/world.ts'
import type { ObservedGroup, Step } from '../state/topology.ts'
import { mayServe } from './may-serve.ts'
import { planGroup } from './plan-group.ts'

const some = runsOf(40)
const done = { kind: 'done', why: '' }
/** Slots of a node that is gone stayed without an owner (seed 449130325). */
const lostView: [Shape, number, number] = [
  {
    seed: 1_443_584_933,
    groups: 2,
    replicas: 0,
    aof: true,
    preserveRoles: false,
    parallel: 0,
    canary: false,
    restart: false,
  },
  3,
  9,
]

describe('when the server is killed repeatedly, between any two of its effects,', () => {
  // invariant: Never two shards of a group take writes.
  test(
    'an upgrade ends as without a crash, with every write, and never with two shards that take writes',
    async () => {
      await fc.assert(
        fc.asyncProperty(shapes, fc.integer({ min: 5, max: 60 }), async (shape, deaths) => {
          const { action, pick } = beginUpgrade(shape)
          expect(await lead(action, { step: soundAndReleased, effects: dying(pick, deaths) })).toEqual(done)
          expectReached(action)
          const primaries = action.world.teams.map(({ recorded }) => recorded)
          if (shape.preserveRoles) expect(primaries).toEqual(action.asked.homes)
        }),
        some,
      )
    },
    propertyWithinMs,
  )
})

test('the whole turn that ships, with its look and its records, leads to the same end', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, fc.nat({ max: 20 }), async (shape, deaths) => {
      const { action, pick } = beginUpgrade({ ...shape, groups: 1 + (shape.groups % 3) })
      const end = await lead(action, { isWhole: true, step: soundAndReleased, effects: dying(pick, deaths) })
      expect(end).toEqual(done)
      // An upgrade that is given up ends, too: in the state before it.
      expect(action.error).toBeNull()
      expectReached(action)
    }),
    runsOf(20),
  )
})

describe('when engines are killed as well,', () => {
  test(
    'an upgrade still ends, and loses only data whose every copy died',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          shapes,
          fc.integer({ min: 1, max: 4 }),
          fc.nat({ max: 20 }),
          async (shape, kills, deaths) => {
            const { action, pick } = beginUpgrade(shape)
            const end = await lead(action, {
              step: expectSound,
              effects: dying(pick, deaths),
              events: killing(pick, kills),
            })
            if (end.kind === 'done') expectReached(action)
          },
        ),
        { ...runsOf(80), examples: [lostView] },
      )
    },
    propertyWithinMs,
  )
})

describe('when followers stall as well, and shards that are told to take over do so late,', () => {
  test('the shard that answers and holds the most is promoted, and what was on record is not lost', async () => {
    let promoted = 0
    let besideLeaving = 0
    await fc.assert(
      fc.asyncProperty(
        shapes,
        fc.integer({ min: 1, max: 3 }),
        fc.nat({ max: 9 }),
        async (shape, kills, deaths) => {
          const { action, pick } = beginUpgrade({
            ...shape,
            groups: 1,
            replicas: Math.max(1, shape.replicas),
          })
          action.world.stalls = 4
          const [kill, stall] = [killing(pick, kills, 'primary'), stalling(pick, 4)]
          const end = await lead(action, {
            step: (seen, step) => {
              expectSound(seen, step)
              promoted += Number(step.kind === 'promote' && isBesideSilence(seen))
              if (step.kind === 'promote') besideLeaving += Number(seen.shards.some(({ leaving }) => leaving))
              if (step.kind === 'retire-shard') expectNoneWaits(seen, action)
              if (step.kind === 'promote') expectMost(step.shard, seen)
            },
            effects: dying(pick, deaths),
            events: (one) => {
              stall(one)
              kill(one)
            },
          })
          if (end.kind === 'done') expectReached(action)
        },
      ),
      runsOf(300),
    )
    expect(promoted).toBeGreaterThan(0)
    expect(besideLeaving).toBeGreaterThan(0)
  })
})

/**
 * A group without a primary does not wait for a shard that is leaving, unless that shard may be the primary.
 */
function expectNoneWaits(seen: ObservedGroup, { goal }: Action): void {
  if (seen.shards.some((shard) => shard.leaving && mayServe(shard, seen))) return
  const staying = { ...seen, shards: seen.shards.filter(({ leaving }) => !leaving) }
  expect(planGroup(staying, goal)).not.toMatchObject({ step: { kind: 'promote' } })
}

function isBesideSilence({ shards }: ObservedGroup): boolean {
  return shards.some(({ process, engine }) => process === 'running' && engine === null)
}

/** Among the shards that ran with the primary, also those that had begun to leave. */
function expectMost(shard: number, { shards, history }: ObservedGroup): void {
  const held = (id: number) => shards.find((one) => one.id === id)?.engine?.offset ?? 0
  const others = shards.filter(
    ({ engine, process }) =>
      engine?.streamed === true &&
      !engine.syncing &&
      process !== 'stopping' &&
      [engine.replid, engine.replid2].includes(history?.replid ?? ''),
  )
  expect(held(shard)).toBeGreaterThanOrEqual(Math.max(0, ...others.map(({ id }) => held(id))))
}

/** Replicas stop for a while, this many times. */
function stalling(pick: Pick, stalls: number): (action: Action) => void {
  let left = stalls
  return ({ world }) => {
    if (left === 0 || pick(6) > 0) return
    const replicas = membersOf(world).filter(({ engine }) => engine?.role === 'replica')
    const victim = replicas[pick(replicas.length)]
    if (victim === undefined) return
    left -= 1
    stall(world, victim)
  }
}

/** The server dies after some effects, this many times; after that it lives. */
function dying(pick: Pick, deaths: number): () => number {
  let left = deaths
  return () => {
    if (left === 0 || pick(3) > 0) return Number.POSITIVE_INFINITY
    left -= 1
    return pick(9)
  }
}

function killing(pick: Pick, kills: number, role?: 'primary'): (action: Action) => void {
  let left = kills
  return ({ world }) => {
    if (left === 0 || pick(12) > 0) return
    const members = membersOf(world).filter(
      ({ engine }) => role === undefined || engine === null || engine.role === role,
    )
    const victim = members[pick(members.length)]
    if (victim === undefined) return
    left -= 1
    kill(world, victim)
  }
}

/** A handover is closed only after no shard is held by it any longer. */
function soundAndReleased(seen: ObservedGroup, step: Step, _: Moment, { world }: Action): void {
  expectSound(seen, step)
  if (step.kind !== 'seal-handover') return
  expect(seen.handover?.released).toBe(true)
  const members = world.teams[seen.group]?.members ?? []
  const held = members.filter(({ engine }) => engine?.role === 'primary' && engine.paused)
  expect(held).toEqual([])
}
