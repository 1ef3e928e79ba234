import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, old } from '../../../test/simulation/group.ts'
import { applyStep as expected } from '../dry-run/simulate.ts'
import { awaitShard } from '../state/group.ts'
import { isLive, type ObservedGroup, type ObservedShard, type Silence } from '../state/topology.ts'
import { violations } from './invariants.ts'
import { planGroup } from './plan-group.ts'

const goal = goalOf({ ...old, homes: [] })
const hangs: Silence = { hung: true, onDisk: false, forMs: 60_000, startedAt: 5 }

/**
 * Shard 1, the primary, does not answer; the others stand at this offset of its history, which was last seen
 * at 90.
 */
function silentPrimary(silence: Silence | null, offset: number, replicas = 1): ObservedGroup {
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

// invariant: No shard is promoted while a silent one may be the primary.
test('beside a primary that is silent and busy no shard is promoted, and nothing is done to it', () => {
  for (const silence of [null, { ...hangs, hung: false }])
    expect(planGroup(silentPrimary(silence, 100), goal)).toEqual({
      kind: 'wait',
      shard: 1,
      code: 'shard_silent',
      why: 'shard 1 may be the primary and does not answer yet (has not answered)',
    })
})

test('if nothing is known about a silence yet, no reason is shown; otherwise the reason, and the last line of the log', () => {
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
  const starting = { ...replica, processWhy: 'the server does not reach it', lastLogLine: 'Loading libc' }
  expect(awaitShard(starting, group)).toMatchObject({
    why: 'shard 2 does not answer yet (the server does not reach it; its log ends with: Loading libc)',
  })
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

test('a person decides when no other shard holds its history and nothing is on its disk', () => {
  for (const seen of [silentPrimary(hangs, 50), silentPrimary(hangs, 0, 0)])
    expect(planGroup(seen, goal)).toMatchObject({ kind: 'stuck', why: expect.stringContaining('a person') })
  const unknown = { ...silentPrimary(hangs, 100), history: null }
  expect(planGroup(unknown, goal)).toMatchObject({ kind: 'stuck' })
})

test('it is ended when its own disk holds data, and no replica holds more', () => {
  const verdict = planGroup(silentPrimary({ ...hangs, onDisk: true }, 50), goal)
  expect(verdict).toMatchObject({ kind: 'do', step: { kind: 'end-process', shard: 1 } })
})

test('a shard that hangs beside a primary that serves is ended, before anything else; a busy one is left alone', () => {
  const seen = groupOf(1)
  const beside = (silence: Silence | null): ObservedGroup => ({
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

/**
 * The primary, shard 1, is dead; shard 2 answers, at this offset; shard 3 is silent. The history was last
 * seen at 90.
 */
function besideSilent(
  silence: Silence | null,
  offset: number,
  silent: Partial<ObservedShard> = {},
): ObservedGroup {
  const seen = groupOf(2)
  const shards = seen.shards.map((shard): ObservedShard => {
    if (shard.id === 1) return { ...shard, process: 'exited', asleep: true, engine: null }
    if (shard.id === 3) return { ...shard, silence, engine: null, ...silent }
    return isLive(shard)
      ? { ...shard, engine: { ...shard.engine, replid: 'a', offset, link: 'down' } }
      : shard
  })
  return { ...seen, history: { replid: 'a', offset: 90, runId: null }, shards }
}

const promoted = { kind: 'do', step: { kind: 'promote', shard: 2 } }
const since = (forMs: number): Silence => ({ ...hangs, hung: false, forMs })

describe('when the primary is gone and a follower is silent,', () => {
  test('a shard that has handed over is a follower like any other', () => {
    const handover = { from: 3, to: 1, released: true, ageMs: 5 }
    expect(planGroup({ ...besideSilent(hangs, 100), handover }, goal)).toMatchObject(promoted)
  })

  // invariant: A silent follower does not delay a promotion.
  test('another shard that holds what is on record is promoted, and the silent one is named', () => {
    for (const silence of [since(2_000), hangs]) {
      const seen = besideSilent(silence, 100)
      const verdict = planGroup(seen, goalOf({ ...old, homes: [], replicas: 2 }))
      expect(verdict).toMatchObject(promoted)
      expect(verdict).toMatchObject({ step: { why: expect.stringContaining('(shard 3 does not)') } })
      if (verdict.kind === 'do') expect(violations(seen, verdict.step)).toEqual([])
    }
  })

  test('a follower that has just fallen silent is waited for: it may hold more', () => {
    for (const silence of [null, since(1_000)])
      expect(planGroup(besideSilent(silence, 100), goal)).toMatchObject({
        kind: 'wait',
        shard: 3,
        why: 'shard 3 may hold more than shard 2 (offset 100) and does not answer yet',
      })
  })

  test('a follower that is being stopped is not waited for, because it is no successor, unless no other holds what is on record', () => {
    const stopping = { process: 'stopping' } as const
    expect(planGroup(besideSilent(null, 100, stopping), goal)).toMatchObject(promoted)
    expect(planGroup(besideSilent(null, 80, stopping), goal)).toMatchObject({ kind: 'wait', shard: 3 })
  })

  test('it is waited for as long as it runs if no other holds what is on record', () => {
    expect(planGroup(besideSilent(since(90_000), 80), goal)).toMatchObject({
      kind: 'wait',
      shard: 3,
      why: 'shard 3 may be the only one that holds the history up to offset 90, which is on record, and does not answer yet',
    })
    expect(planGroup(besideSilent(hangs, 80), goal)).toMatchObject({ kind: 'stuck' })
  })

  test.each([
    ['was ordered to take over', {}, { follows: null }],
    ['is on record as the primary', { recordedPrimary: 3 }, {}],
    ['is the successor of a handover', { handover: { from: 1, to: 3, released: false, ageMs: 5 } }, {}],
    ['hands over', { handover: { from: 3, to: 2, released: false, ageMs: 5 } }, {}],
  ] as const)('no shard is promoted beside one that %s', (_, change, silent) => {
    const seen = { ...besideSilent(since(90_000), 100, silent), ...change }
    expect(planGroup(seen, goal)).toMatchObject({
      kind: 'wait',
      shard: 3,
      why: 'shard 3 may be the primary and does not answer yet',
    })
    expect(violations(seen, { kind: 'promote', shard: 2, why: '' })).toHaveLength(1)
  })
})

describe('when the primary is gone and a shard that is leaving hangs,', () => {
  const leaving = { leaving: true } as const

  test('another shard is promoted, clients get there, and the shard that is leaving is ended afterwards', () => {
    const seen = besideSilent(hangs, 100, leaving)
    const verdict = planGroup(seen, goal)
    expect(verdict).toMatchObject(promoted)
    if (verdict.kind !== 'do') return
    expect(violations(seen, verdict.step)).toEqual([])
    const after = expected(seen, verdict.step)
    const next = planGroup(after, goal)
    expect(next).toMatchObject({ step: { kind: 'record-primary', shard: 2 } })
    const [first] = after.shards
    const dead = { ...after, recordedPrimary: 2, shards: after.shards.filter((shard) => shard !== first) }
    expect(planGroup(dead, goal)).toMatchObject({ step: { kind: 'retire-shard', shard: 3 } })
  })

  test('if it may be the primary, nothing is promoted beside it: it is ended first', () => {
    for (const change of [
      { recordedPrimary: 3 },
      { handover: { from: 1, to: 3, released: false, ageMs: 5 } },
    ]) {
      const seen = { ...besideSilent(hangs, 100, leaving), ...change }
      expect(planGroup(seen, goal)).toMatchObject({ step: { kind: 'retire-shard', shard: 3 } })
    }
  })

  test('a database that is being removed does not wait for a promotion', () => {
    const removal = { ...goal, kind: 'remove' } as const
    expect(planGroup(besideSilent(hangs, 100, leaving), removal)).toMatchObject({
      step: { kind: 'retire-shard', shard: 3 },
    })
  })
})

test('if a follower wakes up with more data than the shard that was promoted, a person decides: no data of it are given up', () => {
  const seen = groupOf(1)
  const shards = seen.shards.map((shard): ObservedShard => {
    if (!isLive(shard)) return shard
    const primary = { replid: 'b', replid2: 'a', secondOffset: 101, offset: 120 }
    const follower = { primary: { host: '', port: 9 }, link: 'down', replid: 'a', offset: 101 } as const
    return { ...shard, engine: { ...shard.engine, ...(shard.id === 1 ? primary : follower) } }
  })
  expect(planGroup({ ...seen, shards }, goal)).toMatchObject({ kind: 'stuck' })
})
