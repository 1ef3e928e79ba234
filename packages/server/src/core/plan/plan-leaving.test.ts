import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { goalOf, groupOf } from '../../../test/simulation/group.ts'
import { lead } from '../../../test/simulation/lead.ts'
import { kill } from '../../../test/simulation/processes.ts'
import { runsOf } from '../../../test/simulation/runs.ts'
import { beginUpgrade, expectReached, expectSound, shapes } from '../../../test/simulation/upgrade.ts'
import { liveOf } from '../../../test/simulation/world.ts'
import { isLive, type ObservedGroup, type ObservedShard } from '../state/topology.ts'
import { violations } from './invariants.ts'
import { planGroup } from './plan-group.ts'

const goal = goalOf({ replicas: 1 })

/** Shard 1, the primary, is dead. Shard 2 stays, and shard 3 is leaving; they stand at these offsets. */
function led(offsets: Readonly<Record<number, number>>, leaving: Partial<ObservedShard> = {}): ObservedGroup {
  const seen = groupOf(2)
  const shards = seen.shards.map((shard): ObservedShard => {
    if (shard.id === 1) return { ...shard, process: 'exited', asleep: true, engine: null }
    const engine = shard.engine && {
      ...shard.engine,
      replid: 'a',
      link: 'down' as const,
      offset: offsets[shard.id] ?? 0,
    }
    return { ...shard, engine, ...(shard.id === 3 && { leaving: true, ...leaving }) }
  })
  return { ...seen, history: { replid: 'a', offset: 90, runId: null }, shards }
}

const without = (seen: ObservedGroup, id: number): ObservedGroup => ({
  ...seen,
  shards: seen.shards.filter((shard) => shard.id !== id),
})

describe('when a primary dies and a shard has begun to leave,', () => {
  // invariant: A shard that is leaving takes over if no other holds as much data.
  test('it takes over if no other shard is left, or none holds as much', () => {
    for (const seen of [without(led({ 3: 100 }), 2), led({ 2: 95, 3: 100 }), led({ 2: 80, 3: 100 })]) {
      const verdict = planGroup(seen, goal)
      expect(verdict).toMatchObject({ kind: 'do', step: { kind: 'promote', shard: 3 } })
      if (verdict.kind === 'do') expect(violations(seen, verdict.step)).toEqual([])
    }
  })

  test('also if it is behind the record, and the disk of the primary is empty', () => {
    const behind = without(led({ 3: 80 }), 2)
    expect(planGroup(behind, goal)).toMatchObject({ kind: 'do', step: { kind: 'promote', shard: 3 } })
  })

  test('another shard that holds as much takes over instead', () => {
    expect(planGroup(led({ 2: 100, 3: 100 }), goal)).toMatchObject({ step: { kind: 'promote', shard: 2 } })
  })

  test('it goes if its agent ends it already, or if the database is removed', () => {
    const ending = without(led({ 3: 100 }, { process: 'stopping' }), 2)
    expect(planGroup(ending, goal)).not.toMatchObject({ step: { kind: 'promote' } })
    const removal = planGroup(without(led({ 3: 100 }), 2), { ...goal, kind: 'remove' })
    expect(removal).toMatchObject({ step: { kind: 'retire-shard', shard: 3 } })
  })

  test('it stays while the primary is silent, and goes when the primary serves', () => {
    const seen = without(led({ 3: 100 }), 2)
    const primary = (change: Partial<ObservedShard>): ObservedGroup => ({
      ...seen,
      shards: seen.shards.map((shard) =>
        shard.id === 1 ? { ...shard, process: 'running', ...change } : shard,
      ),
    })
    expect(planGroup(primary({}), goal)).toMatchObject({ kind: 'wait', code: 'shard_silent' })
    const serves = primary({ engine: groupOf(0).shards[0]?.engine ?? null })
    expect(planGroup(serves, goal)).toMatchObject({ step: { kind: 'retire-shard', shard: 3 } })
  })

  test('an upgrade ends with every write that any running shard had received', async () => {
    let came = 0
    await fc.assert(
      fc.asyncProperty(shapes, fc.nat({ max: 1 }), async (shape, effects) => {
        const { action } = beginUpgrade({ ...shape, groups: 1 })
        let left = 2
        const end = await lead(action, {
          step: expectSound,
          effects: () => (left > 0 && action.steps.at(-1)?.step.kind === 'retire-shard' ? effects + 1 : 99),
          death: ({ world }) => {
            left -= 1
            for (const team of world.teams)
              for (const member of liveOf(team))
                if (member.engine?.role === 'primary') {
                  came += Number(team.members.some((one) => one.leaving && one.engine !== null))
                  kill(world, member)
                }
          },
        })
        if (end.kind === 'done') expectReached(action)
      }),
      runsOf(60),
    )
    expect(came).toBeGreaterThan(0)
  })
})

test('in cluster mode the others know a shard that is leaving until its agent was told to end it: it may have to take over', async () => {
  let came = 0
  await fc.assert(
    fc.asyncProperty(shapes, fc.nat({ max: 4 }), async (shape, effects) => {
      const { action } = beginUpgrade({ ...shape, groups: 2 })
      let left = 3
      await lead(action, {
        effects: () => (left > 0 && action.steps.at(-1)?.step.kind === 'retire-shard' ? effects : 99),
        death: ({ world }) => {
          left -= 1
          const live = world.teams.flatMap(liveOf)
          for (const member of live.filter(({ leaving, state }) => leaving && state === 'running')) {
            came += 1
            for (const { engine } of live) expect(engine?.known).toContain(member.id)
          }
        },
      })
    }),
    runsOf(30),
  )
  expect(came).toBeGreaterThan(0)
})

test('a follower that is leaving holds nothing up beside a primary that serves', () => {
  const seen = groupOf(2)
  const shards = seen.shards.map((shard) => (shard.id === 3 ? { ...shard, leaving: true } : shard))
  expect(shards.every(isLive)).toBe(true)
  expect(planGroup({ ...seen, shards }, goal)).toMatchObject({ step: { kind: 'retire-shard', shard: 3 } })
})
