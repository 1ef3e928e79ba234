import { expect, test } from 'vitest'
import { makeWish } from '../../test/agent-home.ts'
import { settleWanted } from './settle-wanted.ts'

test('a put asks for a new process only when the revision differs or nothing else would start one', async () => {
  const wish = await makeWish()
  const wanted = { wish, order: 3, gone: false }
  const order = (...[next, state]: [typeof wish, Parameters<typeof settleWanted>[2]]) =>
    settleWanted(wanted, next, state).order
  expect(order({ ...wish, revision: 'second' }, 'running')).toBe(4)
  expect(order({ ...wish, onCrash: 'wait' }, 'running')).toBe(3)
  expect(order({ ...wish, onCrash: 'wait' }, 'exited')).toBe(4)
  expect(order(wish, 'running')).toBe(3)
  expect(order(wish, 'failed')).toBe(4)
  // It is in its back-off: a server that puts the same again and again does not make it a busy loop.
  expect(order(wish, 'exited')).toBe(3)
})
