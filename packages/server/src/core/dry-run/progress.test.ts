import { expect, test } from 'vitest'
import { goalOf, groupOf } from '../../../test/simulation/group.ts'
import { progressOf } from '../state/action.ts'
import { foresee } from './foresee.ts'

test('the progress of an action does not change while its steps cannot be planned because its primary does not answer', () => {
  const group = groupOf(0)
  const seen = { groups: [{ ...group, shards: group.shards.map((shard) => ({ ...shard, engine: null })) }] }
  const stepsToCome = foresee(seen, goalOf()).length
  expect(stepsToCome).toBe(0)
  expect(progressOf(20, { stepsTaken: 1, stepsToCome, isMoved: false })).toBe(20)
  expect(progressOf(20, { stepsTaken: 5, stepsToCome, isMoved: true })).toBe(99)
  expect(progressOf(20, { stepsTaken: 1, stepsToCome: 1, isMoved: false })).toBe(50)
})
