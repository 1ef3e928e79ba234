import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { checkTestingPage } from './testing-page.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')

/** What is wrong where these files are the only tests. */
function violationsWith(text: string, files: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-testing-'))
  try {
    for (const [file, content] of [['docs/testing.md', text], ...files.map((file) => [file, ''])] as const) {
      mkdirSync(dirname(join(folder, `${file}`)), { recursive: true })
      writeFileSync(join(folder, `${file}`), `${content}`)
    }
    return checkTestingPage(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the page names every test of acceptance and proof, and no other', () => {
  expect(checkTestingPage(root)).toEqual([])
})

test('a test without a promise is a violation, and so is a promise whose test is gone', () => {
  const violations = violationsWith(page, ['e2e/proof/faults/new.test.ts'])
  expect(violations).toContain('docs/testing.md: no promise names e2e/proof/faults/new.test.ts')
  expect(violations).toContain('docs/testing.md: there is no e2e/acceptance/upgrade.test.ts')
})

test('a promise without an acceptance test is a violation', () => {
  expect(violationsWith(page.replace('| `repair` |', '|  |'), [])).toContainEqual(
    expect.stringContaining('no acceptance test for: '),
  )
})

test('a profile without a row, or without a promise, is a violation', () => {
  const violations = violationsWith(page.replaceAll('`stalls`', '`stall`'), [])
  for (const what of [
    'lacks | `stalls` |',
    'no promise names the profile stalls',
    'there is no profile stall',
  ])
    expect(violations).toContainEqual(expect.stringContaining(what))
})
