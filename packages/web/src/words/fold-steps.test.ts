import { expect, test } from 'vitest'
import { failureOf, foldSteps, hasBegun, type Step } from './fold-steps.ts'

const step = (op_name: Step['op_name'], state: Step['state']) => ({ op_name, state }) as Step

test('a step that has failed is shown, also one that only writes down what others have done', () => {
  const steps = [step('add-shard', 'done'), step('record-follows', 'done'), step('follow', 'failed')]
  expect(foldSteps(steps).map(({ step: { op_name } }) => op_name)).toEqual(['add-shard', 'follow'])
})

test('a group in which a step has failed has failed, until it has handed over in spite of that', () => {
  const steps = [step('add-shard', 'failed'), step('retire-shard', 'done')]
  expect(failureOf({ handed_over: false, steps })?.op_name).toBe('add-shard')
  expect(failureOf({ handed_over: true, steps })).toBeUndefined()
  expect(failureOf({ handed_over: false, steps: steps.slice(1) })).toBeUndefined()
})

test('a group of which no step has begun has not begun', () => {
  const at = (began: string | null) => ({ began }) as Step
  expect(hasBegun({ steps: [at(null), at(null)] })).toBe(false)
  expect(hasBegun({ steps: [at('2026-11-26T07:39:14.000Z'), at(null)] })).toBe(true)
})
