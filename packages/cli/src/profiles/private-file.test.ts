import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { faultTextOf } from '../output/print-error.ts'
import { readPrivate, writePrivate } from './private-file.ts'

const root = mkdtempSync(join(tmpdir(), 'fairlead-private-'))
afterAll(() => rmSync(root, { recursive: true }))

/** The refusal's message. */
function refusal(work: () => unknown) {
  try {
    work()
  } catch (cause) {
    const { exit, message } = faultTextOf(cause)
    return `${exit}: ${message}`
  }
  return 'not refused'
}

test('a folder that others may write to is refused, and left as it is', () => {
  const folder = join(root, 'shared')
  mkdirSync(folder)
  chmodSync(folder, 0o1777)
  expect(refusal(() => writePrivate(join(folder, 'credentials.json'), '{}'))).toBe(
    `usage: ${folder} can be written to by others, so nothing is kept in it`,
  )
  expect([statSync(folder).mode & 0o7777, readdirSync(folder)]).toEqual([0o1777, []])
})

test('what is made is for its owner alone, also where a link points elsewhere', () => {
  const file = join(root, 'made', 'credentials.json')
  writePrivate(file, '{}')
  expect([join(root, 'made'), file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
  const other = join(root, 'other')
  writeFileSync(other, 'untouched', { mode: 0o600 })
  const link = join(root, 'made', 'link.json')
  symlinkSync(other, link)
  expect(refusal(() => readPrivate(link, { isSecret: true }))).toContain('so it is not used')
  writePrivate(link, 'new')
  expect([readPrivate(link, { isSecret: true }), readPrivate(other)]).toEqual(['new', 'untouched'])
})

test('what the system refuses is a fault of the configuration', () => {
  for (const work of [() => readPrivate('/dev/null/config.json'), () => writePrivate('/dev/null/a/b', '')])
    expect(refusal(work)).toMatch(/^usage: \/dev\/null\/\S+ cannot be used: /)
})
