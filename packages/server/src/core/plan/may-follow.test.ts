import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import { type EngineState, isLive, type LiveShard } from '../state/topology.ts'
import { mayFollow } from './plan-roles.ts'

function shardWith(engine: Partial<EngineState>): LiveShard {
  const [shard] = groupOf(0).shards
  if (shard === undefined || !isLive(shard)) throw new Error('the first shard answers')
  return { ...shard, engine: { ...shard.engine, ...engine } }
}

/** It was promoted at offset 80 of history a. */
const primary = shardWith({ replid: 'b', replid2: 'a', secondOffset: 81, offset: 100 })

test.each([
  ['is in its history, and behind it', { replid: 'b', offset: 90 }, true],
  ['is in its history, and ahead of it', { replid: 'b', offset: 101 }, false],
  ['stopped before it was promoted', { replid: 'a', offset: 80 }, true],
  ['wrote on in the former history', { replid: 'a', offset: 81 }, false],
  ['is in another history', { replid: 'z', offset: 10 }, false],
  ['never held data', { replid: 'z', offset: 1, keys: 0 }, true],
  ['serves no slots yet', { replid: 'z', offset: 10, role: 'blank' }, true],
] as const)('whether a shard that %s may follow a primary', (_, engine, may) => {
  expect(mayFollow(shardWith(engine), primary)).toBe(may)
})
