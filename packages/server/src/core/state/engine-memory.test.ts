import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { unlimited } from '../../../test/simulation/group.ts'
import { limitOrders } from '../plan/limit-orders.ts'
import { engineLimit, engineOverhead, limitsOf } from './engine-memory.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

describe('the limit of an engine', () => {
  test('is the memory of its clients plus the memory for replication', () => {
    expect(engineLimit(100 * MiB, 64 * MiB)).toBe(166.5 * MiB)
    expect(engineLimit(100 * MiB, 0)).toBe(102 * MiB)
    expect(engineLimit(0, 64 * MiB)).toBe(0)
  })

  test('has room for a full backlog with the heads of its blocks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 16_384, max: 64 * GiB }), (backlog) => {
        const heads = (Math.floor(backlog / 16_384) + 1) * 64
        expect(engineOverhead(backlog)).toBeGreaterThan(backlog + heads + MiB)
      }),
    )
  })

  test('is a share of the database for each group', () => {
    const groups = Array.from({ length: 3 }, (_, number) => ({
      number,
      slots: { first: 0, last: 0 },
      primaryShard: null,
      history: null,
    }))
    expect(limitsOf({ memoryBytes: 100, groups, evictionPolicy: 'noeviction' })).toEqual({
      shareBytes: 33,
      evictionPolicy: 'noeviction',
    })
  })
})

describe('an engine is told', () => {
  const engine = (limit: number, policy: string, data = 0, hasBacklog = true) => ({
    ...unlimited(data),
    limitBytes: limit,
    evictionPolicy: policy,
    backlogBytes: 64 * MiB,
    hasBacklog,
  })
  const limits = (share: number, policy: string) => ({ shareBytes: share, evictionPolicy: policy })
  const of = (share: number, backlog = 64 * MiB) => engineLimit(share, backlog)

  test('nothing when it keeps what it was granted', () => {
    expect(limitOrders(engine(of(GiB), 'noeviction'), limits(GiB, 'noeviction'), true)).toEqual([])
    expect(limitOrders(engine(of(GiB, 0), 'noeviction', 0, false), limits(GiB, 'noeviction'), false)).toEqual(
      [],
    )
    expect(limitOrders(engine(0, 'noeviction'), limits(0, 'noeviction'), true)).toEqual([])
  })

  test('to allow the backlog in addition, when an older Fairlead started it without', () => {
    expect(limitOrders(engine(GiB, 'noeviction', GiB), limits(GiB, 'noeviction'), true)).toEqual([
      ['maxmemory', String(of(GiB))],
    ])
  })

  test('to allow a backlog that it has kept, also when it has no replicas any more', () => {
    expect(limitOrders(engine(of(GiB, 0), 'noeviction'), limits(GiB, 'noeviction'), false)).toEqual([
      ['maxmemory', String(of(GiB))],
    ])
  })

  test('a higher limit before a policy that would use it, and a policy before a lower limit', () => {
    const order = (from: number, to: number) =>
      limitOrders(engine(from, 'noeviction'), limits(to, 'allkeys-lru'), true).map(([setting]) => setting)
    expect(order(of(GiB), 2 * GiB)).toEqual(['maxmemory', 'maxmemory-policy'])
    expect(order(of(GiB), 0)).toEqual(['maxmemory', 'maxmemory-policy'])
    expect(order(of(GiB), GiB / 2)).toEqual(['maxmemory-policy', 'maxmemory'])
    expect(order(0, GiB)).toEqual(['maxmemory-policy', 'maxmemory'])
  })

  test.each([
    ['noeviction', false],
    ['volatile-lru', false],
    ['allkeys-lru', true],
  ])(
    'a limit below the size of its data only if any key may be evicted at any time: %s',
    (policy, isTold) => {
      const told = limitOrders(engine(of(4 * GiB), policy, 3 * GiB), limits(2 * GiB, policy), true)
      expect(told).toEqual(isTold ? [['maxmemory', String(of(2 * GiB))]] : [])
      const later = limitOrders(engine(of(4 * GiB), policy, GiB), limits(2 * GiB, policy), true)
      expect(later).toEqual([['maxmemory', String(of(2 * GiB))]])
    },
  )
})
