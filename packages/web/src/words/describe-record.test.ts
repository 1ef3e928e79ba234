import { expect, test } from 'vitest'
import { typeOf, whatOf } from './describe-record.ts'

test('an upgrade that was taken back is named by what was ordered', () => {
  const said = (outcome: string) => whatOf({ type: 'bdb_action_taken_back', details: { outcome } })
  expect(said('rolled_back')).toBe('bdb action rolled back, as ordered')
  expect(said('cancelled')).toBe('bdb action cancelled, as ordered')
  expect(whatOf({ type: 'bdb_action_failed', details: { outcome: 'failed' } })).toBe('bdb action failed')
  expect(whatOf({ type: 'bdb_created', details: {} })).toBe('bdb created')
})

test('a filter takes what the table shows', () => {
  for (const words of ['rolled back, as ordered', 'Cancelled, as ordered'])
    expect(typeOf(`bdb action ${words} `)).toBe('bdb_action_taken_back')
  expect(typeOf('bdb action failed')).toBe('bdb_action_failed')
  expect([typeOf('bdb created'), typeOf('bdb_created')]).toEqual(['bdb_created', 'bdb_created'])
})
