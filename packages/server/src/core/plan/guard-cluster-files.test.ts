import { expect, test } from 'vitest'
import { old, shardedOf } from '../../../test/simulation/group.ts'
import type { Lane } from '../state/lane.ts'
import type { ObservedDatabase, Step, Verdict } from '../state/topology.ts'
import { guardClusterFiles } from './guard-cluster-files.ts'

const MB = 1024 * 1024
const why = 'there is a reason'

/** Two groups of two shards, on a node with so much disk; the second group has nothing to do. */
function guard(step: Step, diskFreeBytes: number, recordedPrimary?: null): Verdict | undefined {
  const groups = shardedOf(2, 1).groups.map((group) => ({
    ...group,
    node: { ...group.node, diskFreeBytes },
    ...(recordedPrimary === null && { recordedPrimary }),
  }))
  const lanes: readonly Lane[] = [
    { group: 0, verdict: { kind: 'do', step } },
    { group: 1, verdict: { kind: 'done' } },
  ]
  const [first, second] = guardClusterFiles(lanes, { groups } satisfies ObservedDatabase)
  expect(second?.verdict).toEqual({ kind: 'done' })
  return first?.verdict
}

const handOver: Step = { kind: 'hand-over', from: 1, to: 2, why }
const promote: Step = { kind: 'promote', shard: 2, why }

test('no role moves while the disk is almost full, and a person is told how much is needed', () => {
  expect(guard(handOver, 17 * MB)).toEqual({
    kind: 'stuck',
    code: 'node_room',
    why: 'the node has 17 MB of disk free, and 18 MB are needed so that no shard ends itself because it cannot write its view of the cluster (what would be done: there is a reason)',
  })
  expect(guard(handOver, 18 * MB)).toEqual({ kind: 'do', step: handOver })
})

test('a repair waits only while there is no room for the files', () => {
  expect(guard(promote, MB)).toMatchObject({ kind: 'stuck', code: 'node_room' })
  expect(guard(promote, 2 * MB)).toEqual({ kind: 'do', step: promote })
})

test('a shard that leaves gives room back, as when an upgrade is cancelled because the disk is full: it waits only while there is no room for the files', () => {
  const retire: Step = { kind: 'retire-shard', shard: 2, why }
  expect(guard(retire, MB)).toMatchObject({ kind: 'stuck', code: 'node_room' })
  expect(guard(retire, 2 * MB)).toEqual({ kind: 'do', step: retire })
})

test.each<Step>([
  { kind: 'record-primary', shard: 1, why },
  { kind: 'release-handover', primary: 1, why },
  { kind: 'save-snapshot', shard: 1, why },
])('what changes no view of the cluster is done all the same: $kind', (step) => {
  expect(guard(step, 0)).toEqual({ kind: 'do', step })
})

test('a database that serves nothing yet has nothing to lose', () => {
  const step: Step = { kind: 'add-shard', runs: old, follow: null, why }
  expect(guard(step, 0)).toMatchObject({ kind: 'stuck' })
  expect(guard(step, 0, null)).toEqual({ kind: 'do', step })
})
