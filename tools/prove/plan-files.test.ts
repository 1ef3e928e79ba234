import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ProfileName, profiles } from '../../proof/profiles.ts'
import { planFiles } from './plan-files.ts'

const root = join(import.meta.dirname, '../..')
const names = Object.keys(profiles) as readonly ProfileName[]

test('a run without a profile has every file of the proof tier', () => {
  const planned = planFiles(root, { profile: null, part: 1, parts: 1 })
  expect(planned).toEqual(expect.arrayContaining(globSync('e2e/proof/**/*.test.ts', { cwd: root })))
  expect(new Set(planned).size).toBe(planned.length)
})

test('the parts of a run together are the whole', () => {
  for (const profile of [null, ...names]) {
    const whole = planFiles(root, { profile, part: 1, parts: 1 })
    const parts = [1, 2, 3, 4].map((part) => planFiles(root, { profile, part, parts: 4 }))
    expect([...new Set(parts.flat())].toSorted()).toEqual(whole.toSorted())
  }
})

test('a file is in one part only, unless its rounds are shared by all of them', () => {
  const parts = [1, 2, 3].map((part) => planFiles(root, { profile: null, part, parts: 3 }))
  const times = (file: string) => parts.filter((files) => files.includes(file)).length
  expect(times('e2e/proof/faults/full-disk.test.ts')).toBe(1)
  expect(times('e2e/proof/faults/stalls-everywhere.test.ts')).toBe(3)
})

test('each file that a profile names is there', () => {
  const named = Object.values(profiles).flatMap(({ files }): readonly string[] => files)
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
})
