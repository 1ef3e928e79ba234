import { expect, test } from 'vitest'
import { awaitShard } from './group.ts'
import { violations } from './invariants.ts'
import { planGroup } from './plan-group.ts'
import { expect as expected } from './simulate.ts'
import { goalOf, groupOf, old } from './test-group.ts'
import { isLive, type Seen, type Silence } from './topology.ts'

const goal = goalOf({ ...old, homes: [] })
const hangs: Silence = { hung: true, onDisk: false, startedAt: 5 }

/** Shard 1, the primary, answers nobody; the others stand at this offset of its history, which was last seen at 90. */
function silentPrimary(silence: Silence | null, offset: number, replicas = 1): Seen {
  const seen = groupOf(replicas)
  return {
    ...seen,
    history: { replid: 'a', offset: 90, runId: null },
    shards: seen.shards.map((shard) =>
      shard.id === 1 || !isLive(shard)
        ? { ...shard, processWhy: 'has not answered', silence, engine: null }
        : { ...shard, engine: { ...shard.engine, replid: 'a', offset } },
    ),
  }
}

test('beside a primary that is silent and busy nobody is promoted, and nothing is done to it', () => {
  for (const silence of [null, { ...hangs, hung: false }])
    expect(planGroup(silentPrimary(silence, 100), goal)).toEqual({
      kind: 'wait',
      shard: 1,
      why: 'shard 1 may be the primary and does not answer yet (has not answered)',
    })
})

test('where the agent gives no reason of a silence yet, none is told', () => {
  const seen = silentPrimary(null, 100)
  const told = (shard: number) => ({
    ...seen,
    shards: groupOf(1).shards.map((one) =>
      one.id === shard ? { ...one, processWhy: '', engine: null } : one,
    ),
  })
  expect(planGroup(told(1), goal)).toMatchObject({
    why: 'shard 1 may be the primary and does not answer yet',
  })
  const [primary, replica] = told(2).shards
  if (primary === undefined || replica === undefined || !isLive(primary)) throw new Error('a group of two')
  const group = { seen: told(2), goal, primary, replicas: [replica] }
  expect(awaitShard(replica, group)).toMatchObject({ why: 'shard 2 does not answer yet' })
})

test('a primary that hangs is ended when a replica holds its history; then that one is promoted', () => {
  const seen = silentPrimary(hangs, 100)
  const verdict = planGroup(seen, goal)
  expect(verdict).toMatchObject({ kind: 'do', step: { kind: 'end-process', shard: 1, startedAt: 5 } })
  if (verdict.kind !== 'do') return
  expect(violations(seen, verdict.step)).toEqual([])
  expect(violations(silentPrimary({ ...hangs, hung: false }, 100), verdict.step)).toHaveLength(1)
  const after = expected(seen, verdict.step)
  expect(planGroup(after, goal)).toMatchObject({ kind: 'do', step: { kind: 'promote', shard: 2 } })
})

test('it is left to a person when no other shard holds its history and nothing is on its disk', () => {
  for (const seen of [silentPrimary(hangs, 50), silentPrimary(hangs, 0, 0)])
    expect(planGroup(seen, goal)).toMatchObject({ kind: 'stuck', why: expect.stringContaining('a person') })
  const unknown = { ...silentPrimary(hangs, 100), history: null }
  expect(planGroup(unknown, goal)).toMatchObject({ kind: 'stuck' })
})

test('and ended when its own disk holds data, and no replica holds more', () => {
  const verdict = planGroup(silentPrimary({ ...hangs, onDisk: true }, 50), goal)
  expect(verdict).toMatchObject({ kind: 'do', step: { kind: 'end-process', shard: 1 } })
})

test('a shard that hangs beside a primary that serves is ended, before anything else; a busy one is left alone', () => {
  const seen = groupOf(1)
  const beside = (silence: Silence | null): Seen => ({
    ...seen,
    handover: { from: 2, to: 1, released: false, ageMs: 130_000 },
    shards: seen.shards.map((shard) =>
      shard.id === 2 ? { ...shard, processWhy: 'has not answered', silence, engine: null } : shard,
    ),
  })
  const verdict = planGroup(beside(hangs), goal)
  expect(verdict).toMatchObject({ kind: 'do', step: { kind: 'end-process', shard: 2, startedAt: 5 } })
  if (verdict.kind === 'do') expect(violations(beside(hangs), verdict.step)).toEqual([])
  expect(planGroup(beside({ ...hangs, hung: false }), goal)).toMatchObject({
    step: { kind: 'release-handover' },
  })
})
