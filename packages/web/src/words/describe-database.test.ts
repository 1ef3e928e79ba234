import { expect, test } from 'vitest'
import { courseOf } from './describe-database.ts'

const [old, next] = [
  { engine: 'valkey', engine_version: '8.1.1', modules: [] },
  { engine: 'valkey', engine_version: '9.1.0', modules: [] },
]
const during = (phase: 'preparing' | 'window' | 'finishing' | 'undoing' | 'ended') =>
  courseOf(old, { phase, from: old, goal: next })

test('while an upgrade runs, the words say what serves and where it can go', () => {
  expect(during('preparing')).toEqual({ serves: old, goes: ['valkey 9.1.0', 'upgrading'] })
  expect(during('window')).toEqual({ serves: next, goes: ['back to valkey 8.1.1', 'way back kept'] })
  expect(during('finishing')).toEqual({ serves: next, goes: ['stays on valkey 9.1.0', 'finishing'] })
  expect(during('undoing')).toEqual({ serves: old, goes: ['back to valkey 8.1.1', 'going back'] })
})

test('without an upgrade, the words are those of the record of the database', () => {
  expect(during('ended')).toEqual({ serves: old, goes: null })
  expect(courseOf(old, undefined)).toEqual({ serves: old, goes: null })
  expect(courseOf(old, { phase: 'preparing', from: null, goal: old })).toEqual({ serves: old, goes: null })
})
