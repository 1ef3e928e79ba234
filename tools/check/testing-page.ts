import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { profiles } from '../../proof/profiles.ts'
import { rule } from './rule.ts'
import { root } from './tree.ts'

const PAGE = 'docs/testing.md'
/** The columns of the table of promises that name test files, by their folder. */
const folders = ['e2e/acceptance', 'e2e/proof'] as const

export const testingPage = rule('the page of tests has every end-to-end test and every profile', () =>
  checkTestingPage(root),
)

/**
 * Checks docs/testing.md: each promise of its table has an acceptance test, each end-to-end test proves a
 * promise, each test that the table names exists, and each profile of `npm run prove` has its row.
 */
export function checkTestingPage(root: string): readonly string[] {
  const page = readFileSync(join(root, PAGE), 'utf8')
  return [...checkFiles(root, page), ...checkProfiles(page)].map((what) => `${PAGE}: ${what}`)
}

function checkFiles(root: string, page: string): readonly string[] {
  const rows = rowsUnder(page, '| promise |')
  const unaccepted = rows.filter(
    (row) => row.length > 1 && wordsIn(row[1]).length === 0 && !row[0]?.includes(OURS),
  )
  const missing = unaccepted.map(([promise = '']) => `no acceptance test for: ${promise.trim()}`)
  return missing.concat(
    folders.flatMap((folder, column) => {
      const named = rows.flatMap((row) => wordsIn(row[column + 1])).map((word) => `${folder}/${word}.test.ts`)
      const there = globSync(`${folder}/**/*.test.ts`, { cwd: root })
      return [
        ...there
          .filter((file) => !named.some((one) => matchesGlob(file, one)))
          .map((file) => `no promise names ${file}`),
        ...named
          .filter((one) => !there.some((file) => matchesGlob(file, one)))
          .map((one) => `there is no ${one}`),
      ]
    }),
  )
}

/** What the tests promise each other, and not their users. */
const OURS = 'Tests beside each other'

function checkProfiles(page: string): readonly string[] {
  const rows = Object.entries(profiles).map(
    ([name, { what, minutes }]) => `| \`${name}\` | ${what} | ${minutes} |`,
  )
  const named = rowsUnder(page, '| promise |').flatMap((row) => wordsIn(row[3]))
  return [
    ...rows.filter((row) => !page.includes(row)).map((row) => `the table of profiles lacks ${row}`),
    ...Object.keys(profiles)
      .filter((name) => !named.includes(name))
      .map((name) => `no promise names the profile ${name}`),
    ...named.filter((name) => !Object.hasOwn(profiles, name)).map((name) => `there is no profile ${name}`),
  ]
}

/** The cells of each row of the table whose heading begins so. */
function rowsUnder(page: string, heading: string): readonly (readonly string[])[] {
  const [, table = ''] = page.split(`\n${heading}`)
  const [rows = ''] = table.split('\n\n')
  return rows
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').slice(1, -1))
}

function wordsIn(cell = ''): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
}
