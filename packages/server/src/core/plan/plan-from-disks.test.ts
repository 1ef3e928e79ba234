import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import type { ObservedGroup, Snapshot } from '../state/topology.ts'
import { planFromDisks } from './plan-from-disks.ts'

/** History b branched off from a after offset 20, and was last seen at 30. */
const history = { replid: 'b', offset: 30, runId: null, before: { replid: 'a', until: 21 } }

const noDisk = { lookedAt: 0, claim: null, aof: 'none', snapshot: null } as const

/** All processes are gone. Shard 1 was the primary; of the snapshots, one for each shard. */
function afterPowerCut(...snapshots: readonly Snapshot[]): ObservedGroup {
  const group = groupOf(2)
  const shards = group.shards.map((shard, n) => ({
    ...shard,
    process: 'exited' as const,
    engine: null,
    asleep: true,
    disk: { ...(shard.disk ?? noDisk), snapshot: snapshots[n] ?? null },
  }))
  return { ...group, shards, history }
}

const [a, b] = ['a', 'b'].map(
  (replid) =>
    (offset: number): Snapshot => ({ replid, offset }),
)
if (a === undefined || b === undefined) throw new Error('there are two histories')

test.each([
  [
    'a replica that had the id of the new history, and none of its data yet, holds less',
    [a(20), b(6)],
    undefined,
  ],
  ['as much as the last primary is not more', [a(20), b(20)], undefined],
  ['more of the new history is more', [a(20), b(21)], 2],
  ['writes after the branch do not belong to the history on record', [a(25), b(21)], 2],
  ['of several, the one with the most comes back', [a(20), b(22), b(27)], 3],
  [
    'a history that is not related to the one on record is not compared',
    [{ replid: 'x', offset: 99 }, b(1)],
    2,
  ],
  ['the last primary has the most', [b(30), b(29), a(20)], undefined],
] as const)('%s', (_, snapshots, first) => {
  const verdict = planFromDisks(afterPowerCut(...snapshots))
  if (first === undefined) expect(verdict).toBeUndefined()
  else expect(verdict).toMatchObject({ step: { kind: 'start-shard', shard: first } })
})
