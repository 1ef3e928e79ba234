import { expect, test } from 'vitest'
import { goalOf, groupOf, linked, run } from '../../../test/simulation/group.ts'
import { revisionOf } from '../state/goal.ts'
import type { Seen, Step } from '../state/topology.ts'

const valkey9 = { build: { flavour: 'valkey', version: '9.1.2' }, restartNonce: 0, modules: [] }
const goal = goalOf({ build: { flavour: 'redis', version: '8.0.2' }, from: valkey9 })

/** Whatever is on its way arrives in the next turn. */
function* atOnce(): Generator<number> {
  for (;;) yield 1
}

function onValkey9(): Seen {
  const seen = groupOf(1)
  const shards = seen.shards.map((shard) => ({ ...shard, wanted: valkey9, revision: revisionOf(valkey9) }))
  return { ...seen, shards }
}

test('a replica whose files the target cannot read is not restarted on it: a fresh one comes first, and no replica is missing', () => {
  const steps: Step[] = []
  const end = run(onValkey9(), goal, atOnce(), (seen, step) => {
    steps.push(step)
    if (step.kind === 'retire-shard') expect(linked(seen)).toBeGreaterThan(1)
  })
  expect(steps.map(({ kind }) => kind)).not.toContain('restart-shard')
  expect(end.shards.map(({ revision }) => revision)).toEqual(['redis-8.0.2+0', 'redis-8.0.2+0'])
})

test('from builds whose files it reads, replicas are restarted as ever', () => {
  const kinds: string[] = []
  run(groupOf(1), goalOf(), atOnce(), (_, { kind }) => void kinds.push(kind))
  expect(kinds).toContain('restart-shard')
})
