import { operations } from '@fairlead/api'
import { expect, test } from 'vitest'
import { optionalFields } from './optional-fields.ts'

interface Schema {
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

function optionalIn({ items, properties = {}, required = [] }: Schema): readonly string[] {
  if (items !== undefined) return optionalIn(items)
  return Object.keys(properties).filter((name) => !required.includes(name))
}

test('each field that a row of a list may lack is known, except secrets', () => {
  const { listDatabases, listDatabaseActions, listLogs, listUsers, listRoles, listModules, listNodes } =
    operations
  const lists = [listDatabases, listDatabaseActions, listLogs, listUsers, listRoles, listModules, listNodes]
  const fields = lists.flatMap(({ ok }) => optionalIn(ok as Schema))
  const shown = fields.filter((name) => !name.endsWith('_pass'))
  expect([...optionalFields].toSorted()).toEqual([...new Set(shown)].toSorted())
})
