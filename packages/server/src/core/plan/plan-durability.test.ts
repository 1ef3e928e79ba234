import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, old } from '../../../test/simulation/group.ts'
import { foresee } from '../dry-run/foresee.ts'
import {
  type Disk,
  type EngineState,
  isLive,
  type ObservedGroup,
  type ObservedShard,
  type Verdict,
} from '../state/topology.ts'
import { violations } from './invariants.ts'
import { planGroup } from './plan-group.ts'

const goal = goalOf({ persistence: 'snapshot', replicas: 1 })
const noDisk: Disk = { lookedAt: 0, snapshot: null, aof: 'none', claim: null }

interface Look {
  readonly disk?: Partial<Disk>
  readonly engine?: Partial<EngineState>
}

/**
 * Shard 1 is the primary on the old revision at offset 100, 2 its replica, 3 the surge shard, ready. `looks`
 * by id.
 */
function surged(looks: Readonly<Record<number, Look>>): ObservedGroup {
  const seen = groupOf(2)
  const shards = seen.shards.map((shard): ObservedShard => {
    if (!isLive(shard)) throw new Error('all answer')
    const { disk = {}, engine = {} } = looks[shard.id] ?? {}
    const own = { ...shard.engine, replid: 'a', offset: 100, ...engine }
    const runs = shard.id === 3 ? { wanted: goal, revision: 'valkey-8.1.1+0' } : {}
    return { ...shard, ...runs, disk: { ...noDisk, ...disk }, engine: own }
  })
  return { ...seen, shards }
}

const at = (offset: number, replid = 'a'): Look => ({ disk: { snapshot: { replid, offset } } })
const saving = (state: 'writing' | 'failed'): Look => ({ engine: { saving: { state, lastAt: null } } })
const save = (shard: number) => ({ kind: 'do', step: { kind: 'save-snapshot', shard } })
const handOver = { kind: 'do', step: { kind: 'hand-over', from: 1, to: 3 } }

/** No planned step breaks an invariant. */
function planned(seen: ObservedGroup): Verdict {
  const verdict = planGroup(seen, goal)
  if (verdict.kind === 'do') expect(violations(seen, verdict.step, 'snapshot')).toEqual([])
  return verdict
}

describe('with snapshots, before the role moves,', () => {
  test.each([
    ['has none', { 1: at(50) }, save(3)],
    ['has none, nor has the primary', {}, save(3)],
    ['has an older one', { 1: at(50), 3: at(49) }, save(3)],
    ['has one of another history', { 1: at(50), 3: at(99, 'z') }, save(3)],
    ['has one as new', { 1: at(50), 3: at(50) }, handOver],
    ['has one, and the primary’s is from before it had replicas', { 1: at(900, 'z'), 3: at(2) }, handOver],
    ['writes one', { 1: at(50), 3: saving('writing') }, { kind: 'wait', shard: 3 }],
  ] as const)('a successor that %s', (_, looks, verdict) => {
    expect(planned(surged(looks))).toMatchObject(verdict)
  })

  test('a snapshot that is being written is waited for while it makes progress, and the progress is shown', () => {
    const writing = (done: number, of: number | null): Look => ({
      engine: { saving: { state: 'writing', lastAt: null, progress: { done, of } } },
    })
    expect(planned(surged({ 1: at(50), 3: writing(4_500, 10_000) }))).toMatchObject({
      kind: 'wait',
      shard: 3,
      progress: 4_500,
      why: expect.stringMatching(/^shard 3 writes a snapshot \(45 %\): /),
    })
    // Redis before 6.2 reports only the time.
    expect(planned(surged({ 1: at(50), 3: writing(7, null) }))).toMatchObject({
      kind: 'wait',
      shard: 3,
      progress: 7,
      why: expect.stringMatching(/^shard 3 writes a snapshot: /),
    })
  })

  test('a successor that cannot write a snapshot needs a person, is tried again, and is never skipped', () => {
    expect(planned(surged({ 1: at(50), 3: saving('failed') }))).toMatchObject({
      kind: 'stuck',
      why: expect.stringContaining('shard 3 cannot write a snapshot'),
      retry: { kind: 'save-snapshot', shard: 3 },
    })
  })

  test('a snapshot that was just written is looked for before another one is written', () => {
    const saved = { engine: { saving: { state: 'idle', lastAt: 5_000 } } } as const
    expect(planned(surged({ 1: at(50), 3: { ...saved, disk: { lookedAt: 5_900 } } }))).toMatchObject({
      kind: 'wait',
      shard: 3,
    })
    expect(planned(surged({ 1: at(50), 3: { ...saved, disk: { lookedAt: 6_000 } } }))).toMatchObject(save(3))
  })

  test('a snapshot that seems to be from the future does not count: the clock was set back, and another one is written', () => {
    const anHour = 3_600_000
    const saved = { engine: { saving: { state: 'idle', lastAt: anHour + 5_000 } } } as const
    expect(planned(surged({ 1: at(50), 3: { ...saved, disk: { lookedAt: 5_000 } } }))).toMatchObject(save(3))
  })

  // invariant: Data on a disk is on the next primary's disk before a handover or a retirement.
  test('a handover to a shard with less on disk breaks an invariant', () => {
    const step = { kind: 'hand-over', from: 1, to: 3, why: '' } as const
    expect(violations(surged({ 1: at(50), 3: at(49) }), step, 'snapshot')).toHaveLength(1)
    expect(violations(surged({ 1: at(50), 3: at(49) }), step, 'disabled')).toEqual([])
    expect(violations(surged({ 3: { engine: { aof: 'rewriting' } } }), step, 'aof')).toHaveLength(1)
  })
})

test('the plan that people see has one snapshot for each handover', () => {
  const seen = surged({ 1: at(50) })
  const before = { ...seen, shards: seen.shards.filter(({ id }) => id !== 3) }
  const kinds = foresee({ groups: [before] }, goal).map(({ step }) => step.kind)
  expect(kinds.filter((kind) => kind === 'save-snapshot')).toHaveLength(1)
  expect(kinds).toContain('retire-shard')
})

describe('a shard with data on its disk is given up', () => {
  /**
   * Shard 1 was promoted in place of shard 2, in cluster mode: shard 2 is retired, and a fresh shard comes.
   */
  const replaced = (
    looks: Readonly<Record<number, Look>>,
    persistence: 'aof' | 'snapshot',
  ): ObservedGroup => {
    const seen = groupOf(1, persistence === 'aof')
    const shards = seen.shards.map((shard): ObservedShard => {
      const { disk = {}, engine = {} } = looks[shard.id] ?? {}
      const own = { ...shard, disk: { ...noDisk, ...disk } }
      if (shard.id === 2 || !isLive(shard)) return { ...own, process: 'exited', asleep: true, engine: null }
      const branched = { replid: 'b', replid2: 'a', secondOffset: 81, offset: 100 }
      return { ...own, engine: { ...shard.engine, ...branched, ...engine } }
    })
    return { ...seen, slots: { first: 0, last: 16_383 }, shards }
  }
  const steady = (persistence: 'aof' | 'snapshot') => goalOf({ ...old, homes: [], persistence })
  const retire = { kind: 'do', step: { kind: 'retire-shard', shard: 2 } }

  test.each([
    ['its snapshot is newer', { 1: at(60), 2: at(70) }, save(1)],
    ['the primary has none', { 2: at(70) }, save(1)],
    ['the primary has one as new', { 1: at(70), 2: at(70) }, retire],
    ['the primary has saved since', { 1: at(90, 'b'), 2: at(70) }, retire],
    ['it has nothing', {}, retire],
  ] as const)('when %s', (_, looks, verdict) => {
    const seen = replaced(looks, 'snapshot')
    expect(planGroup(seen, steady('snapshot'))).toMatchObject(verdict)
    const broken = violations(seen, { kind: 'retire-shard', shard: 2, why: '' }, 'snapshot')
    expect(broken).toHaveLength(verdict === retire ? 0 : 1)
  })

  test.each([
    ['off', { kind: 'do', step: { kind: 'enable-aof', shard: 1 } }],
    ['rewriting', { kind: 'wait', shard: 1 }],
    ['on', retire],
  ] as const)('when the append-only file of the primary is %s', (aof, verdict) => {
    const seen = replaced({ 1: { engine: { aof } }, 2: { disk: { aof: 'whole' } } }, 'aof')
    expect(planGroup(seen, steady('aof'))).toMatchObject(verdict)
  })
})
