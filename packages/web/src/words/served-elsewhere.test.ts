import type { Action } from '@fairlead/api'
import { expect, test } from 'vitest'
import { servedElsewhere } from './served-elsewhere.ts'

const old = { engine: 'redis' as const, engine_version: '7.0.15' }
const next = { engine: 'valkey' as const, engine_version: '8.1.1' }
const upgrade = (uid: string, phase: Action['phase']) =>
  ({ action_uid: uid, phase, from: old, goal: next }) as Action

test('what is in its window is missed in the list of the version that serves it, and is one too many in that of the old one', () => {
  const open = [upgrade('a', 'window'), upgrade('b', 'handing_over'), upgrade('c', 'finishing')]
  const rows = [
    { ...old, action_uid: 'a' },
    { ...old, action_uid: 'b' },
    { ...old, action_uid: 'c' },
    { ...old },
  ]
  expect(servedElsewhere(rows, open, 'redis-7.0.15')).toEqual({ away: 2, others: 0 })
  expect(servedElsewhere([{ ...next }], open, 'valkey-8.1.1')).toEqual({ away: 0, others: 2 })
})

test('new processes of the same version change no count', () => {
  const same = { ...upgrade('a', 'window'), goal: old } as Action
  expect(servedElsewhere([{ ...old, action_uid: 'a' }], [same], 'redis-7.0.15')).toEqual({
    away: 0,
    others: 0,
  })
})
