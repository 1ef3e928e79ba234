import { expect, test } from 'vitest'
import { ALL_BUCKETS, bucketOf, bucketsToTake, goodUntil, LEASE_MS } from './bucket.ts'

test('a server stops relying on a lease before another server may have it, however long its renewal took', () => {
  for (const [sentAt, reachedStoreAt] of [
    [0, 0],
    [0, 9_000],
    [5_000, 5_001],
  ] as const)
    expect(goodUntil(sentAt)).toBeLessThan(reachedStoreAt + LEASE_MS - 2_000)
})

test('with any number of servers that start and stop in any order, in the end every bucket is held', () => {
  for (const servers of [1, 2, 3, 7, 64, 300]) {
    const held = Array.from({ length: servers }, (_, n) => (n === 0 ? ALL_BUCKETS : 0))
    let moved = true
    for (let round = 0; moved; round += 1) {
      expect(round).toBeLessThan(10)
      moved = false
      for (const n of held.keys()) {
        const free = ALL_BUCKETS - held.reduce((sum, one) => sum + one, 0)
        const wanted = Math.min(bucketsToTake(held[n] ?? 0, servers), free)
        moved ||= wanted !== 0
        held[n] = (held[n] ?? 0) + wanted
      }
    }
    expect(held.reduce((sum, one) => sum + one, 0)).toBe(ALL_BUCKETS)
    expect(Math.max(...held)).toBeLessThanOrEqual(Math.ceil(ALL_BUCKETS / servers) + 1)
  }
})

test('a database is in exactly one bucket, which no singleton task has', () => {
  for (const uid of [1, 255, 256, 257, 100_000]) expect(bucketOf(uid)).toBeLessThan(256)
  expect(bucketOf(257)).toBe(bucketOf(1))
})
