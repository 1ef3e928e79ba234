import { expect, test } from 'vitest'
import { NOW } from '../../test/action-of.ts'
import { addressOf, courseOf, isOpenWithoutTls, markOfDatabase, servingOf } from './describe-database.ts'
import { clockTime, zoneAt } from './format.ts'

const [old, next] = [
  { engine: 'valkey', engine_version: '8.1.1', modules: [] },
  { engine: 'valkey', engine_version: '9.1.0', modules: [] },
]
const during = (phase: 'preparing' | 'window' | 'finishing' | 'undoing' | 'ended') =>
  courseOf({ phase, from: old, goal: next })

test('while an upgrade runs, the words say where it goes', () => {
  expect(during('preparing')).toEqual(['valkey 9.1.0', 'upgrading'])
  expect(during('window')).toEqual(['back to valkey 8.1.1', 'way back kept'])
  expect(during('finishing')).toEqual(['stays on valkey 9.1.0', 'finishing'])
  expect(during('undoing')).toEqual(['back to valkey 8.1.1', 'going back'])
  expect(during('ended')).toBeNull()
  expect(courseOf(undefined)).toBeNull()
})

test('while groups differ, each build that serves is named with its primaries', () => {
  expect(servingOf({ ...next, serving: [{ ...next, primaries: 3 }] })).toBe('valkey 9.1.0')
  const both = [
    { ...old, primaries: 2 },
    { ...next, primaries: 1 },
  ]
  expect(servingOf({ ...old, serving: both })).toBe('valkey 8.1.1 (2), valkey 9.1.0 (1)')
})

test('in a rollback window nothing is said to change: the window is open, and its end is named', () => {
  const now = Date.parse(NOW)
  const ends = new Date(now + 3_600_000).toISOString()
  const status = 'active-change-pending'
  const labelOf = (rollback_window: string) => markOfDatabase({ status, rollback_window }, now).label
  expect(labelOf('until_finalized')).toBe('rollback window open until finalized')
  expect(labelOf(ends)).toBe(`rollback window open until ${clockTime(ends, now)} ${zoneAt(now)}`)
  expect(markOfDatabase({ status }, now).label).toBe('changing')
  expect(markOfDatabase({ status: 'recovery', rollback_window: ends }, now)).toMatchObject({ tone: 'bad' })
})

test('the address is the name for clients of other machines, if there is one', () => {
  const at = (dns_name: string) => ({
    endpoints: [{ uid: '1:1', dns_name, port: 10_001, addr: ['10.1.2.3'], addr_type: 'external' as const }],
  })
  expect(addressOf(at('redis-10001.db.example.net'))).toBe('redis-10001.db.example.net:10001')
  expect(addressOf(at('fd00::2'))).toBe('[fd00::2]:10001')
  expect(addressOf({ endpoints: [] })).toBeNull()
  expect(isOpenWithoutTls({ ...at('x'), tls_mode: 'disabled' })).toBe(true)
  expect(isOpenWithoutTls({ ...at('x'), tls_mode: 'enabled' })).toBe(false)
})
