import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { authorizeUser } from '../operations/authorize-user.ts'
import { upgradeDatabase, upgradeModules } from '../operations/upgrade-database.ts'
import { errors } from './errors.ts'

/* The contract against the tables of the specification, as they are written there. */

const page = readFileSync(new URL('../../../../docs/specification.md', import.meta.url), 'utf8')

/** The first cells of the tables below a heading. */
function firstCells(heading: string): readonly string[] {
  const part = page.split(`### ${heading}`)[1]?.split(/\n##/)[0] ?? ''
  return part.split('\n').flatMap((line) => /^\| (\w+)[ |]/.exec(line)?.[1] ?? [])
}

const fieldsOf = (heading: string) => firstCells(heading).filter((name) => name !== 'Field')

test.each([
  ['2.1 ', Object.keys(authorizeUser.body.properties)],
  ['2.2 ', Object.keys(authorizeUser.ok.properties)],
  ['2.3 ', Object.keys(upgradeDatabase.body.properties)],
  ['2.5 ', Object.keys(upgradeModules.body.properties)],
  ['2.7 ', Object.keys(upgradeModules.ok.properties)],
])('every field of section %s is in the contract', (heading, names) => {
  expect(fieldsOf(heading).length).toBeGreaterThan(0)
  expect(fieldsOf(heading).filter((field) => !names.includes(field))).toEqual([])
})

test('every error code of the specification is in the table', () => {
  const part = page.split('## 7. Errors')[1]?.split('## 8.')[0] ?? ''
  const codes = part
    .split('\n')
    .flatMap((line) => /^\| (?:Authorize|Module upgrade) \| (\w+) /.exec(line)?.[1] ?? [])
  expect(codes.length).toBe(6)
  expect(codes.filter((code) => !Object.hasOwn(errors, code))).toEqual([])
})
