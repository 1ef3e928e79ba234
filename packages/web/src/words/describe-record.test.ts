import { expect, test } from 'vitest'
import { typeOf, whatOf } from './describe-record.ts'

test('an upgrade that was taken back is not said to have failed', () => {
  const said = (outcome?: string) =>
    whatOf({ type: 'bdb_action_failed', details: { ...(outcome !== undefined && { outcome }) } })
  expect(said('rolled_back')).toBe('bdb action rolled back, as ordered')
  expect(said('cancelled')).toBe('bdb action cancelled, as ordered')
  expect(said('failed')).toBe('bdb action failed')
  expect(said(), 'a record of the time before outcomes').toBe('bdb action ended, goal not reached')
  expect(whatOf({ type: 'bdb_created', details: {} })).toBe('bdb created')
})

test('a filter takes what the table shows', () => {
  for (const words of [
    'rolled back, as ordered',
    'Cancelled, as ordered',
    'failed',
    'ended, goal not reached',
  ])
    expect(typeOf(`bdb action ${words} `)).toBe('bdb_action_failed')
  expect([typeOf('bdb created'), typeOf('bdb_created')]).toEqual(['bdb_created', 'bdb_created'])
})
