import { describe, expect, test } from 'vitest'
import { goalOf, groupOf, unlimited } from '../../../test/simulation/group.ts'
import { planGroup } from '../plan/plan-group.ts'
import { judgeSuccessor } from './successor-memory.ts'
import { isLive, type LiveShard, type ObservedGroup, type ObservedShard } from './topology.ts'

const MB = 1_000_000
const goal = goalOf()

/**
 * A primary and its surge shard, 2, that is ready to take over. Megabytes; `clients`: of the data, what
 * connections take.
 */
function surging(
  share: number,
  before: number,
  after: number,
  clients = { before: 0, after: 0 },
): ObservedGroup {
  const [one, two] = groupOf(1).shards.filter(isLive)
  if (one === undefined || two === undefined) throw new Error('there are two shards')
  const surge = { ...two, wanted: goal, revision: 'valkey-8.1.1+0' }
  return {
    ...groupOf(1),
    limits: { shareBytes: share * MB, evictionPolicy: 'noeviction' },
    shards: [withData(one, before, clients.before), withData(surge, after, clients.after)],
  }
}

function withData(shard: LiveShard, data: number, clients: number): ObservedShard {
  const memory = { ...unlimited(data * MB), clientBytes: clients * MB }
  return { ...shard, engine: { ...shard.engine, memory } }
}

function judge(seen: ObservedGroup) {
  const [primary, successor] = seen.shards
  if (primary === undefined || successor === undefined || !isLive(primary) || !isLive(successor))
    throw new Error('both answer')
  return judgeSuccessor(successor, { seen, goal, primary })
}

describe('a successor', () => {
  test.each([
    ['without a limit', 0, 20, 40, 'fits'],
    ['that needs no more than its primary', 100, 60, 55, 'fits'],
    ['that needs more, and far less than the limit', 100, 40, 80, 'fits'],
    ['that needs more, and nearly the limit', 100, 60, 96, 'near'],
    ['that needs more than the limit', 100, 60, 101, 'too-large'],
    ['of a primary at its limit, that needs no more', 100, 100, 100.9, 'fits'],
    ['of a primary above its limit, that needs no more', 100, 160, 160, 'fits'],
    ['of a primary near its limit, that needs no more', 100, 97, 97.5, 'fits'],
    ['of a primary at its limit, that needs more', 100, 100, 102, 'too-large'],
    ['of a small database, beside which a process counts', 4, 4, 4.4, 'fits'],
  ])('%s', (_, share, before, after, verdict) => {
    expect(judge(surging(share, before, after)).verdict).toBe(verdict)
  })

  test('is judged with its primary’s clients, not with those that read from it now: with these it may be too large only for a moment', () => {
    expect(judge(surging(100, 70, 90, { before: 5, after: 60 })).verdict).toBe('fits')
    expect(judge(surging(100, 90, 90, { before: 40, after: 0 })).verdict).toBe('wait')
  })

  test('that is too large says what it takes, what is allowed, and how much would be enough', () => {
    const { why } = judge(surging(34, 32, 36.7))
    expect(why).toMatch(/36\.7 MB on valkey 8\.1\.1 .* 32 MB on redis 7\.0\.15, and 34 MB are allowed/)
    expect(why).toMatch(/set memory_size to 39000000 or more/)
  })
})

describe('the plan', () => {
  test('gives an upgrade up whose successor is too large, before the role moves', () => {
    expect(planGroup(surging(100, 60, 110), goal)).toMatchObject({
      kind: 'hopeless',
      why: expect.stringContaining('memory_size'),
    })
    expect(planGroup(surging(100, 60, 96), goal)).toMatchObject({ kind: 'do', step: { kind: 'hand-over' } })
  })

  test('waits for room that clients may leave', () => {
    expect(planGroup(surging(100, 90, 90, { before: 40, after: 0 }), goal)).toMatchObject({
      kind: 'wait',
      shard: 2,
    })
  })
})
