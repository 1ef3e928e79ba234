import { describe, expect, test } from 'vitest'
import { arrive, goalOf, groupOf, linked, noMemory, plenty, run } from '../../../test/simulation/group.ts'
import { applyStep as expected } from '../dry-run/simulate.ts'
import { revisionOf } from '../state/goal.ts'
import type { ObservedGroup, Step } from '../state/topology.ts'
import { planGroup } from './plan-group.ts'

const valkey9 = { build: { flavour: 'valkey', version: '9.1.2' }, restartNonce: 0, modules: [] }
const goal = goalOf({ build: { flavour: 'redis', version: '8.0.2' }, from: valkey9 })

/** Everything under way finishes before the next turn. */
function* atOnce(): Generator<number> {
  for (;;) yield 1
}

function onValkey9(): ObservedGroup {
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

describe('without memory on the node', () => {
  const need = /a surge shard needs \d+ MB of memory and the node has 0 MB free/

  test.each([false, true])(
    'for a fresh shard after the handover, the last old replica stays, the action says why it waits, and goes on when there is room (preserve_roles %s)',
    (preserveRoles) => {
      const wanted = { ...goal, preserveRoles }
      let seen = onValkey9()
      const waits: string[] = []
      for (let turn = 0; turn < 200; turn += 1) {
        const verdict = planGroup(seen, wanted)
        if (verdict.kind === 'wait') waits.push(verdict.why)
        if (verdict.kind === 'do') {
          seen = expected(seen, verdict.step)
          // Another database has taken the memory meanwhile.
          if (verdict.step.kind === 'hand-over') seen = { ...seen, node: noMemory }
        }
        seen = arrive(seen, atOnce())
        expect(linked(seen)).toBeGreaterThan(0)
      }
      expect(waits.at(-1)).toMatch(need)
      expect(waits.at(-1)).toMatch(/which stays until there is room/)
      const end = run({ ...seen, node: plenty }, wanted, atOnce(), () => undefined)
      expect(end.shards.map(({ revision }) => revision)).toEqual(['redis-8.0.2+0', 'redis-8.0.2+0'])
    },
  )

  test('for the surge shard, no replica is restarted on a build that cannot read its files: nothing is touched', () => {
    expect(planGroup({ ...onValkey9(), node: noMemory }, goal)).toMatchObject({
      kind: 'hopeless',
      why: expect.stringMatching(need),
    })
  })
})

test('from builds whose files it reads, replicas are restarted as usual', () => {
  const kinds: string[] = []
  run(groupOf(1), goalOf(), atOnce(), (_, { kind }) => void kinds.push(kind))
  expect(kinds).toContain('restart-shard')
})
