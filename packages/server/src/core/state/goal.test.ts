import { expect, test } from 'vitest'
import { revisionOf } from './goal.ts'

test('the revision of a process is pinned: another text would restart every database at the next start of Fairlead', () => {
  expect(revisionOf({ build: { flavour: 'valkey', version: '8.1.1' }, restartNonce: 0, modules: [] })).toBe(
    'valkey-8.1.1+0',
  )
  expect(revisionOf({ build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 3, modules: [] })).toBe(
    'redis-7.0.15+3',
  )
})
