import { expect, test } from 'vitest'
import { startCommand } from './start-command.ts'

const of = (...words: readonly string[]) => startCommand({ names: ['orders'] }, ['node', 'main.ts', ...words])

test('after a dry run, the command that starts it is the one that was typed, without what made it a dry run', () => {
  const typed = ['db', 'upgrade', 'orders', '--to', 'valkey-9.1', '--dry-run', '--exit-code']
  expect(of(...typed)).toBe('fairlead db upgrade orders --to valkey-9.1')
  expect(of('db', 'upgrade', "it's $1", '--dry-run')).toBe("fairlead db upgrade 'it'\\''s $1'")
})

test('arguments of modules and fields that were set may be secret, and are not printed', () => {
  for (const option of [['--module', 'search=PASSWORD x'], ['--set=modules=[]']])
    expect(of('db', 'upgrade', 'orders', ...option, '--dry-run')).toBe(
      'fairlead databases upgrade orders, with the same options but for --dry-run',
    )
})
