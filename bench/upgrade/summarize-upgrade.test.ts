import { describe, expect, test } from 'vitest'
import { judgeParallel, judgeSeconds, judgeStops } from './summarize-upgrade.ts'

describe('write stops', () => {
  const stops = { single: [30, 20, 10], sharded: [40, 60], failover: [600, 900, 100], clusterFailover: [50] }

  test('are compared by their medians, and 30 times shorter is just enough', () => {
    const [single] = judgeStops(stops)
    expect(single).toMatchObject({ ours: 20, theirs: 600, ratio: 30, met: true })
    expect(judgeStops({ ...stops, failover: [599] })[0]).toMatchObject({ met: false })
  })

  test('of a sharded database must be shorter, not as long', () => {
    const [, sharded] = judgeStops(stops)
    expect(sharded).toMatchObject({ ours: 50, theirs: 50, ratio: 1, met: false })
    expect(judgeStops({ ...stops, clusterFailover: [50.1] })[1]).toMatchObject({ met: true })
  })
})

describe('the seconds of an upgrade', () => {
  test('may be 1.3 times the floor and 2 more', () => {
    expect(judgeSeconds([{ upgrade: 14.9, floor: 10 }])).toMatchObject({ ratio: 1.49, met: true })
    expect(judgeSeconds([{ upgrade: 15.1, floor: 10 }])).toMatchObject({ ratio: 1.51, met: false })
  })

  test('are compared with the floor of their own round', () => {
    const slow = { upgrade: 29, floor: 20 }
    const fast = { upgrade: 5, floor: 4 }
    expect(judgeSeconds([slow, fast, fast])).toMatchObject({ ours: 5, theirs: 4, ratio: 1.25, met: true })
  })

  test('that were not measured meet no goal', () => {
    expect(judgeSeconds([])).toMatchObject({ met: false })
  })
})

test('times of upgrades of many groups are given as parts of the time of the upgrade shard by shard', () => {
  const [four, all] = judgeParallel([
    { one: 10, four: 4, all: 5 },
    { one: 20, four: 7, all: 20 },
    { one: 10, four: 9, all: 3 },
  ])
  expect(four).toMatchObject({ ours: 7, theirs: 10, ratio: 0.4, met: true })
  expect(all).toMatchObject({ ours: 5, theirs: 10, ratio: 0.5, met: false })
})
