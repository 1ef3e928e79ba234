import { expect, test } from 'vitest'
import { checkLoadOptions } from './check-load-options.ts'

const least = {
  kind: 'set',
  password: 'p',
  lookup: { url: 'http://127.0.0.1:1/v1/bdbs/1', token: 't' },
} as const

test('the defaults are 50 clients, 20,000 writes a second and a prefix that no other run has', () => {
  const [one, other] = [checkLoadOptions(least), checkLoadOptions(least)]
  expect(one).toMatchObject({
    connections: 50,
    perSecond: 20_000,
    valueBytes: 100,
    replyWithinMs: 30_000,
    apiMayLagMs: 250,
  })
  expect(one.prefix).not.toBe(other.prefix)
})

test.each([
  [{ connections: 0 }, 'connections must be a whole number from 1 to 2000, not 0'],
  [{ perSecond: 1.5 }, 'perSecond must be a whole number from 0 to 1000000, not 1.5'],
  [{ prefix: 'a b' }, 'prefix must be 1 to 60 letters, digits, _ or -, not "a b"'],
  [{ lookup: { url: 'nowhere', token: 't' } }, 'lookup.url must be'],
  [{ lookup: { ...least.lookup, groups: 'two' as 'one' } }, "lookup.groups must be 'one' or 'sharded'"],
])('%j is refused in one line that names the field', (wrong, line) => {
  expect(() => checkLoadOptions({ ...least, ...wrong })).toThrow(line)
})
