import { expect, test } from 'vitest'
import { describeOther, describeProcess, revisionOf } from './goal.ts'

test('the revision of a process is pinned: another text would restart every database at the next start of Fairlead', () => {
  expect(revisionOf({ build: { flavour: 'valkey', version: '8.1.1' }, restartNonce: 0, modules: [] })).toBe(
    'valkey-8.1.1+0',
  )
  expect(revisionOf({ build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 3, modules: [] })).toBe(
    'redis-7.0.15+3',
  )
})

test('in words for people a revision has no arguments of modules, and says how two processes differ', () => {
  const build = { flavour: 'valkey', version: '8.1.1' } as const
  const tally = { uid: 'f0', name: 'my-tally', semanticVersion: '1.0.0', sha256: 'ab', args: ['SECRET'] }
  const plain = { build, restartNonce: 0, modules: [] }
  const withModule = { build, restartNonce: 2, modules: [tally, { ...tally, name: 'other' }] }
  expect(describeProcess(plain)).toBe('valkey 8.1.1')
  expect(describeProcess(withModule)).toBe('valkey 8.1.1 with my-tally 1.0.0 with other 1.0.0 (restart 2)')
  const others = {
    ...withModule,
    modules: [
      { ...tally, args: ['x'] },
      { ...tally, name: 'other' },
    ],
  }
  expect(describeOther(revisionOf(plain), revisionOf(withModule))).toBe(
    'runs valkey 8.1.1, not valkey 8.1.1 with my-tally 1.0.0 with other 1.0.0 (restart 2)',
  )
  expect(describeOther(revisionOf(withModule), revisionOf(others))).toMatch(
    /with other arguments of its modules$/,
  )
})
