import { expect, test } from 'vitest'
import { nextWanted } from '../../../src/shards/next-wanted.ts'
import { makeSpec } from '../../agent-home.ts'

test('a put asks for a new process only when the revision differs or nothing else would start one', async () => {
  const spec = await makeSpec()
  const wanted = { spec, order: 3, gone: false }
  const order = (...[next, state]: [typeof spec, Parameters<typeof nextWanted>[2]]) =>
    nextWanted(wanted, next, state).order
  expect(order({ ...spec, revision: 'second' }, 'running')).toBe(4)
  expect(order({ ...spec, onCrash: 'wait' }, 'running')).toBe(3)
  expect(order({ ...spec, onCrash: 'wait' }, 'exited')).toBe(4)
  expect(order(spec, 'running')).toBe(3)
  expect(order(spec, 'failed')).toBe(4)
  // It is in its back-off: a server that puts the same spec repeatedly does not cause a busy loop.
  expect(order(spec, 'exited')).toBe(3)
})
