import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import { type EngineState, isLive, type LiveShard } from '../state/topology.ts'
import { hasBrokenHistory } from './broken-history.ts'

function primaryWith(beganAfterDeath: boolean, change: Partial<EngineState>): LiveShard {
  const [shard] = groupOf(0).shards
  if (shard === undefined || !isLive(shard)) throw new Error('there is a shard that answers')
  return { ...shard, beganAfterDeath, engine: { ...shard.engine, ...change } }
}

const known = { replid: 'a', offset: 100, runId: 'before' }

test.each([
  ['started with a new history of its own', true, { replid: 'b', replid2: '', secondOffset: -1 }, true],
  ['came back with an older snapshot', true, { replid: 'b', replid2: 'a', secondOffset: 100 }, true],
  [
    'was promoted, and had died long before, as a replica',
    true,
    { replid: 'b', replid2: 'a', secondOffset: 101 },
    false,
  ],
  ['goes on with the history on record', true, { replid: 'a', replid2: '', secondOffset: -1 }, false],
  [
    'began another history by itself, as the process that it was',
    true,
    { replid: 'b', replid2: '', secondOffset: -1, runId: 'before' },
    false,
  ],
  ['was stopped in order and started again', false, { replid: 'b', replid2: '', secondOffset: -1 }, false],
] as const)('a primary that %s', (_, died, change, broken) => {
  expect(hasBrokenHistory(primaryWith(died, change), known)).toBe(broken)
})
