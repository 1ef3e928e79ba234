import { describe, expect, test } from 'vitest'
import { knownHoles, runsForeignCode } from './known-holes.ts'
import { holes } from './known-holes-table.ts'
import { parseVersion } from './version.ts'

function idsOf(flavour: string, version: string, debian?: string): readonly string[] {
  return knownHoles({ flavour, version, package: debian }).map(({ id }) => id)
}

describe('a build is judged by its version', () => {
  test('the build that a security review broke into', () => {
    const ids = idsOf('valkey', '8.0.1', '8.0.1+dfsg1-1~bpo12+1')
    expect(ids).toEqual(expect.arrayContaining(['CVE-2024-46981', 'CVE-2025-49844', 'CVE-2026-25243']))
    expect(ids).not.toContain('CVE-2024-31449')
  })

  test.for([
    ['valkey', '8.0.5', '8.0.6'],
    ['valkey', '8.1.3', '8.1.4'],
    ['valkey', '7.2.10', '7.2.11'],
    ['redis', '8.0.3', '8.0.4'],
    ['redis', '7.4.5', '7.4.6'],
    ['redict', '7.3.5', '7.3.6'],
  ])('%s %s has a hole that %s has not', ([flavour = '', before = '', after = '']) => {
    expect(idsOf(flavour, before)).toContain('CVE-2025-49844')
    expect(idsOf(flavour, after)).not.toContain('CVE-2025-49844')
  })

  test('a line that never got the fix has the hole, and a younger one has not', () => {
    expect(idsOf('redis', '7.0.15')).toContain('CVE-2025-49844')
    expect(idsOf('redis', '8.4.0')).not.toContain('CVE-2025-49844')
    expect(idsOf('valkey', '9.0.0')).not.toContain('CVE-2025-49844')
    expect(idsOf('valkey', '9.1.2')).toEqual([])
    expect(idsOf('valkey', '10.0.0')).toEqual([])
    expect(idsOf('redis', '8.0.6', '5:8.0.6-3')).not.toContain('CVE-2025-67733')
    expect(idsOf('redis', '8.0.9')).toContain('CVE-2025-67733')
  })

  test('one that came with a version is not in those before', () => {
    expect(idsOf('valkey', '9.0.2')).toContain('CVE-2026-27623')
    expect(idsOf('valkey', '8.1.5')).not.toContain('CVE-2026-27623')
    expect(idsOf('redis', '7.0.15')).not.toContain('CVE-2026-23479')
  })
})

describe('a build of Debian is judged by its package', () => {
  const sound: readonly (readonly [flavour: string, version: string, debian: string])[] = [
    ['valkey', '8.1.1', '8.1.1+dfsg1-3+deb13u3'],
    ['redis', '7.0.15', '5:7.0.15-1~deb12u10'],
    ['redis', '8.0.2', '5:8.0.2-3+deb13u3'],
    ['redis', '8.0.6', '5:8.0.6-3'],
    ['valkey', '9.1.2', '9.1.2-1'],
  ]
  test.for(sound)('%s %s of %s has no hole that lets an attacker run code', ([flavour, version, debian]) => {
    expect(knownHoles({ flavour, version, package: debian }).filter(runsForeignCode)).toEqual([])
  })

  test.for([
    ['valkey', '8.1.1', '8.1.1+dfsg1-3+deb13u2'],
    ['redis', '7.0.15', '5:7.0.15-1~deb12u8'],
    ['redis', '7.0.15', '5:7.0.15-2'],
    ['redis', '8.0.2', '5:8.0.2-3'],
  ])('%s %s of %s, older than the fix or from elsewhere, has one', ([flavour = '', version = '', debian]) => {
    expect(knownHoles({ flavour, version, package: debian }).some(runsForeignCode)).toBe(true)
  })
})

test('packages of another distribution are not judged', () => {
  expect(idsOf('redis', '7.0.15', '5:7.0.15-1ubuntu0.24.04.2')).toEqual([])
})

test('the table is well formed', () => {
  expect(new Set(holes.map(({ id }) => id)).size).toBe(holes.length)
  for (const { id, known, upstream, debian } of holes) {
    expect(id).toMatch(/^CVE-\d{4}-\d{4,6}$/)
    expect(known).toMatch(/^20\d\d-(0[1-9]|1[0-2])$/)
    for (const version of Object.values(upstream).flat()) parseVersion(version.replace(/\.x$/, ''))
    for (const fix of debian)
      expect(fix).toMatch(/^(valkey|redis|redict) \d+\.\d+\.\d+ \d+([~+]deb\d+u\d+)?$/)
  }
})
