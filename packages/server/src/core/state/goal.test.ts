import { expect, test } from 'vitest'
import { describeGoal, describeOther, describeProcess, revisionOf } from './goal.ts'

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
  expect(describeProcess(withModule)).toBe('valkey 8.1.1 with my-tally 1.0.0 with other 1.0.0')
  const others = {
    ...withModule,
    modules: [
      { ...tally, args: ['x'] },
      { ...tally, name: 'other' },
    ],
  }
  expect(describeOther(revisionOf(plain), revisionOf(withModule))).toBe(
    'runs valkey 8.1.1, not valkey 8.1.1 with my-tally 1.0.0 with other 1.0.0',
  )
  expect(describeOther(revisionOf(withModule), revisionOf(others))).toMatch(
    /with other arguments of its modules$/,
  )
})

test('the number of a restart is told only where nothing else distinguishes two processes', () => {
  const [first, second] = [plainOf('8.1.1', 1), plainOf('8.1.1', 2)]
  const later = plainOf('9.0.0', 2)
  expect(describeOther(revisionOf(first), revisionOf(second))).toBe(
    'runs valkey 8.1.1 (restart 1), not valkey 8.1.1 (restart 2)',
  )
  expect(describeOther(revisionOf(plainOf('8.1.1', 0)), revisionOf(first))).toBe(
    'runs valkey 8.1.1, not valkey 8.1.1 (restart 1)',
  )
  // A database that was restarted once keeps its number, and is upgraded to a later build.
  expect(describeOther(revisionOf(second), revisionOf(later))).toBe('runs valkey 8.1.1, not valkey 9.0.0')
  expect(describeGoal({ ...later, from: second })).toBe('valkey 9.0.0')
  expect(describeGoal({ ...second, from: first })).toBe('valkey 8.1.1 (restart 2)')
  expect(describeGoal({ ...second, from: null })).toBe('valkey 8.1.1')
})

function plainOf(version: string, restartNonce: number) {
  return { build: { flavour: 'valkey', version }, restartNonce, modules: [] } as const
}
