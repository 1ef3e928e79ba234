import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import { dataBytes } from './surge-bytes.ts'
import { isLive, type ObservedGroup } from './topology.ts'

const GB = 1024 ** 3

/** Its primary says that it holds so much. */
function sayingIt(bytes: number, shareBytes: number): ObservedGroup {
  const seen = groupOf(1)
  const shards = seen.shards.map((shard) =>
    isLive(shard)
      ? { ...shard, engine: { ...shard.engine, memory: { ...shard.engine.memory, dataBytes: bytes } } }
      : shard,
  )
  return { ...seen, shards, limits: { ...seen.limits, shareBytes } }
}

test('the data of a group is what the fullest of its shards holds', () => {
  expect(dataBytes(sayingIt(GB, 0))).toBe(GB)
  expect(dataBytes(sayingIt(GB, GB))).toBe(GB)
})

test('an engine that reports more than it can hold does not reserve more memory of the node', () => {
  expect(dataBytes(sayingIt(1_000 * GB, GB))).toBe(2 * GB)
})
