import { describe, expect, test } from 'vitest'
import { goalOf, groupOf } from '../../../test/simulation/group.ts'
import { type EngineState, isLive, type ObservedGroup, type ObservedShard } from './topology.ts'
import { wayBack } from './way-back.ts'

const goal = goalOf()

/**
 * Shard 3, the surge shard, is primary; 1 is the standby, 2 another old replica. `change` has the differences
 * of the standby.
 */
function handedOver(change: (shard: ObservedShard) => ObservedShard = (shard) => shard): ObservedGroup {
  const follow = (shard: ObservedShard) =>
    isLive(shard) ? withEngine(shard, { role: 'replica', primary: { host: '', port: 3 }, link: 'up' }) : shard
  const [one, two] = groupOf(1).shards
  if (one === undefined || two === undefined) throw new Error('there are two shards')
  const surge = { ...one, id: 3, address: { host: '', port: 3 }, wanted: goal, revision: 'valkey-8.1.1+0' }
  return {
    ...groupOf(1),
    recordedPrimary: 3,
    standby: { shard: 1, runId: 'run-1', errorReplies: 4 },
    shards: [change(withEngine(follow(one), { errorReplies: 4 })), follow(two), surge],
  }
}

function withEngine(shard: ObservedShard, change: Partial<EngineState>): ObservedShard {
  return isLive(shard) ? { ...shard, engine: { ...shard.engine, ...change } } : shard
}

describe('the way back', () => {
  test('is open before any group has handed over, in any state of the replicas', () => {
    expect(wayBack({ groups: [groupOf(1)] }, goal)).toEqual({
      eligible: true,
      obstacle: null,
      reason: 'no primary is on valkey 8.1.1, so no role has to move back',
    })
  })

  test('does not say that no role was handed over if a standby was promoted again after a handover', () => {
    const seen = handedOver()
    const shards = seen.shards.flatMap((shard) => {
      if (shard.id === 3) return []
      return [shard.id === 1 ? withEngine(shard, { role: 'primary', primary: null }) : shard]
    })
    const { eligible, reason } = wayBack({ groups: [{ ...seen, recordedPrimary: 1, shards }] }, goal)
    expect(eligible).toBe(true)
    expect(reason).not.toMatch(/handed over/)
  })

  test('is open while every old primary follows as it was when it handed over', () => {
    expect(wayBack({ groups: [handedOver()] }, goal)).toMatchObject({
      eligible: true,
      reason: expect.stringContaining('standby'),
    })
  })

  test.each([
    ['is not linked', { link: 'down' }, 'standby_unlinked', 'the standby, shard 1, is not linked right now'],
    [
      'could not carry out a command',
      { errorReplies: 6 },
      'data_differs',
      'could not carry out 2 command(s)',
    ],
    ['was restarted', { runId: 'another' }, 'data_differs', 'was restarted after its handover'],
  ] as const)('is closed when the standby %s', (_, change, obstacle, reason) => {
    const seen = handedOver((shard) => withEngine(shard, change))
    expect(wayBack({ groups: [seen] }, goal)).toMatchObject({
      eligible: false,
      obstacle,
      reason: expect.stringContaining(reason),
    })
  })

  test('is closed if the standby is a redis that does not count commands that it could not execute', () => {
    const redis6 = { build: { flavour: 'redis', version: '6.0.16' }, restartNonce: 0, modules: [] }
    const of = { ...goal, from: redis6 }
    const seen = handedOver()
    const older = (shard: ObservedShard): ObservedShard =>
      shard.id === 3 ? shard : { ...shard, wanted: redis6, revision: 'redis-6.0.16+0' }
    expect(wayBack({ groups: [{ ...seen, shards: seen.shards.map(older) }] }, of)).toMatchObject({
      eligible: false,
      reason: expect.stringMatching(/shard 1 runs redis 6\.0\.16, which does not report/),
    })
    const before = { ...groupOf(1), shards: groupOf(1).shards.map(older) }
    expect(wayBack({ groups: [before] }, of).eligible).toBe(true)
  })

  test('quotes what the engine reported about the command that failed', () => {
    const seen = handedOver((shard) => ({
      ...withEngine(shard, { errorReplies: 5 }),
      trouble: 'unknown HEXPIRE',
    }))
    expect(wayBack({ groups: [seen] }, goal).reason).toContain('(unknown HEXPIRE)')
  })

  test('is closed when the primary does not answer', () => {
    const seen = handedOver()
    const shards = seen.shards.map((shard) => (shard.id === 3 ? { ...shard, engine: null } : shard))
    expect(wayBack({ groups: [{ ...seen, shards }] }, goal)).toEqual({
      eligible: false,
      obstacle: 'primary_silent',
      reason: 'the primary does not answer right now',
    })
  })

  test('is closed when no shard on the old revision is left, and a leaving shard does not count', () => {
    const seen = handedOver()
    const shards = seen.shards.map((shard) => (shard.id < 3 ? { ...shard, leaving: true } : shard))
    expect(wayBack({ groups: [{ ...seen, shards }] }, goal)).toMatchObject({
      obstacle: 'standby_gone',
      reason: 'no shard on redis 7.0.15 is left',
    })
  })

  test('is closed for all groups when it is closed for one group, which is named', () => {
    const slots = { first: 0, last: 8191 }
    const broken = { ...handedOver((shard) => withEngine(shard, { link: 'down' })), group: 1, slots }
    expect(wayBack({ groups: [{ ...handedOver(), slots }, broken] }, goal)).toEqual({
      eligible: false,
      obstacle: 'standby_unlinked',
      reason: 'group 1: the standby, shard 1, is not linked right now',
    })
  })

  test('is closed if the data was discarded', () => {
    expect(wayBack({ groups: [groupOf(1)] }, goalOf({ discard: true }))).toMatchObject({
      eligible: false,
      obstacle: 'data_discarded',
    })
  })
})
