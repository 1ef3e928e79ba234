import { expect, test } from 'vitest'
import { describeChoice } from './describe-choice.ts'

type Reach = 'code' | 'crash' | 'other'
const targetOf = (name: string, ...reaches: readonly Reach[]) => {
  const [engine = '', engine_version = ''] = name.split(' ')
  return {
    engine,
    engine_version,
    current: engine_version === '7.0.15',
    newest: false,
    recommended: false,
    insecure: false,
    possible: true,
    obstacles: [],
    modules: [],
    with_newest_modules: null,
    known_holes: reaches.map((reach) => ({ id: 'CVE-1', what: '', reach })),
  }
}
const now = targetOf('redis 7.0.15')

const recommended = (name: string, ...reaches: readonly Reach[]) => {
  return { ...targetOf(name, ...reaches), recommended: true }
}

test.each([
  [[recommended('redis 8.6.1', 'other'), now], 'redis 8.6.1 is recommended'],
  [
    [targetOf('redis 8.6.1'), now, recommended('valkey 9.1.2')],
    'redis 8.6.1 is the newest redis here that it can go to',
  ],
  [
    [targetOf('redis 8.6.2', 'code'), recommended('redis 8.6.1'), now, targetOf('valkey 9.1.2', 'crash')],
    'redis 8.6.1 is recommended; passed over: redis 8.6.2 (1 known hole: clients can run code), valkey 9.1.2 (1 known hole: clients can end the engine)',
  ],
  [
    [recommended('redis 8.6.1', 'crash', 'other'), now],
    'redis 8.6.1 is the least bad (2 known holes: clients can end the engine): it can go to no newer build here without such holes; fairlead engines fetch redis may bring one',
  ],
] as const)('the choice of a build is told with its reason', (targets, told) => {
  expect(describeChoice({ engine: 'redis', engine_version: '8.6.1' }, targets)).toBe(told)
})

test('nothing is told of a choice where the database stays on its build', () => {
  expect(describeChoice({ engine: 'redis', engine_version: '7.0.15' }, [now])).toBeUndefined()
})
