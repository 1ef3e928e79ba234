import { expect, test } from 'vitest'
import { compareVersions, matchesVersion, readProgramVersion } from './version.ts'

test('versions are compared by number, part by part', () => {
  expect(['8.1.10', '7.0.15', '8.1.9', '8.1'].toSorted(compareVersions)).toEqual([
    '7.0.15',
    '8.1',
    '8.1.9',
    '8.1.10',
  ])
  expect(compareVersions('8.1', '8.1.0')).toBe(0)
})

test('a shorter request matches every version that begins with it', () => {
  expect(matchesVersion('8.1.1', '8.1')).toBe(true)
  expect(matchesVersion('8.11.0', '8.1')).toBe(false)
  expect(matchesVersion('8.1.1', '8.1.2')).toBe(false)
})

test('the flavour and version of a program are read from its own words', () => {
  expect(
    readProgramVersion('Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1'),
  ).toEqual({
    flavour: 'valkey',
    version: '8.1.1',
  })
  expect(readProgramVersion('Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64')).toEqual({
    flavour: 'redis',
    version: '7.0.15',
  })
  expect(readProgramVersion('postgres (PostgreSQL) 15.18')).toBeNull()
})
