import { expect, test } from 'vitest'
import { lostBytes, lostSinceSnapshot } from './lost-bytes.ts'

const known = { replid: 'a', offset: 100, runId: null }

test.each([
  ['went on with the same history', { replid: 'a', offset: 70 }, 30],
  ['was further than the record', { replid: 'a', offset: 130 }, 0],
  [
    'branched off from it, and took writes of its own',
    { replid: 'b', replid2: 'a', secondOffset: 71, offset: 500 },
    30,
  ],
  ['has another history', { replid: 'c', offset: 500 }, null],
] as const)('of the history on record, a shard that %s lacks so much', (_, engine, bytes) => {
  expect(lostBytes(known, { replid2: '', secondOffset: -1, ...engine })).toBe(bytes)
  expect(lostBytes(null, { replid2: '', secondOffset: -1, ...engine })).toBeNull()
})

test.each([
  ['of the same history', { replid: 'a', offset: 60 }, 40],
  ['of the history before it', { replid: 'z', offset: 40 }, 60],
  ['of the history before it, after that had branched off', { replid: 'z', offset: 55 }, null],
  ['of another history', { replid: 'c', offset: 60 }, null],
  ['that does not name its history', { replid: null, offset: null }, null],
] as const)('of the history on record, a snapshot %s lacks so much', (_, snapshot, bytes) => {
  const before = { replid: 'z', until: 50 }
  expect(lostSinceSnapshot({ ...known, before }, snapshot)).toBe(bytes)
  expect(lostSinceSnapshot(known, null)).toBeNull()
})
