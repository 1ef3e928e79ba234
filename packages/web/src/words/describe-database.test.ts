import { expect, test } from 'vitest'
import { NOW } from '../../test/action-of.ts'
import { courseOf, markOfDatabase } from './describe-database.ts'
import { clockTime, zoneAt } from './format.ts'

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

test('in a rollback window nothing is said to change: the window is open, and its end is named', () => {
  const now = Date.parse(NOW)
  const ends = new Date(now + 3_600_000).toISOString()
  const status = 'active-change-pending'
  const labelOf = (phase: 'window' | 'preparing', window_ends: string | null) =>
    markOfDatabase({ status }, { phase, window_ends }, now).label
  expect(labelOf('window', null)).toBe('rollback window open until finalized')
  expect(labelOf('window', ends)).toBe(`rollback window open until ${clockTime(ends, now)} ${zoneAt(now)}`)
  expect(labelOf('preparing', null)).toBe('changing')
  expect(markOfDatabase({ status: 'recovery' }, { phase: 'window', window_ends: null }, now)).toMatchObject({
    tone: 'bad',
  })
})
