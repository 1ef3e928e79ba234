import { expect, test } from 'vitest'
import { markOfFetch, nameOfFetch, sayFetch } from './describe-fetch.ts'

test('a fetch is called as it was asked for', () => {
  const asked = { engine: 'valkey', engine_version: '8.1', also_unstable: false }
  expect(nameOfFetch(asked)).toBe('valkey 8.1')
  expect(nameOfFetch({ ...asked, engine_version: null })).toBe('valkey (newest)')
  expect(nameOfFetch({ ...asked, also_unstable: true })).toBe('valkey 8.1, also in development')
})

test('a fetch says what it does, then which build came and from where, or why none did', () => {
  const running = { progress: 'downloading valkey 8.1.4 from trixie', fetched: null, fault: null }
  expect(sayFetch(running)).toBe('downloading valkey 8.1.4 from trixie')
  const fetched = { engine: 'valkey', engine_version: '8.1.4' }
  expect(sayFetch({ ...running, fetched })).toBe('valkey 8.1.4 is here')
  expect(sayFetch({ ...running, fetched: { ...fetched, suite: 'trixie' } })).toBe(
    "valkey 8.1.4 is here, from Debian's trixie",
  )
  const fault = { code: 'unreachable', message: 'the archive cannot be reached' } as const
  expect(sayFetch({ ...running, fault })).toBe('the archive cannot be reached')
  expect(markOfFetch({ state: 'failed' })).toMatchObject({ tone: 'bad', label: 'failed' })
})
