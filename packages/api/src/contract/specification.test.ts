import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Database } from '../operations/databases.ts'
import { authorizeUser } from '../operations/identity/authorize-user.ts'
import { ModuleEntry, upgradeDatabase, upgradeModules } from '../operations/upgrade-database.ts'
import { type ErrorCode, errors } from './errors.ts'
import type { Operation } from './operation.ts'

/* Compares contract and specification: fields, types, defaults, paths, permissions, statuses, codes. */

const page = readFileSync(new URL('../../../../docs/reference/specification.md', import.meta.url), 'utf8')

/** The rows of the tables below a heading, without their heads. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const part = page.split(`${heading}`)[1]?.split(/\n##/)[0] ?? ''
  const lines = part.split('\n').filter((line) => line.startsWith('| ') || line.startsWith('|-'))
  return lines
    .filter((line, n) => line.startsWith('| ') && lines[n + 1]?.startsWith('|-') !== true)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
}

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly default?: unknown
}
interface Shape {
  readonly properties: Readonly<Record<string, Schema>>
  readonly required?: readonly string[] | undefined
}

/** The types of JSON that a field takes. */
function typesOf({ type, enum: values, anyOf }: Schema): readonly string[] {
  if (anyOf !== undefined) return anyOf.flatMap(typesOf)
  if (values !== undefined) return values.map((value) => typeof value)
  return type === undefined ? [] : [type]
}

/** JSON types of the specification's words. */
const jsonTypes: Readonly<Record<string, readonly string[]>> = {
  boolean: ['boolean'],
  string: ['string'],
  integer: ['integer'],
  'version number': ['string'],
  list: ['array'],
  'list of module upgrade entries': ['array'],
  'list of module upgrade entries (2.4)': ['array'],
  'string or integer uid': ['string', 'integer'],
  'string uid': ['string'],
}

const shapes: readonly (readonly [heading: string, shape: Shape, isRequest: boolean])[] = [
  ['### 2.1 ', authorizeUser.body, true],
  ['### 2.2 ', authorizeUser.ok, false],
  ['### 2.3 ', upgradeDatabase.body, true],
  ['### 2.4 ', ModuleEntry, true],
  ['### 2.5 ', upgradeModules.body, true],
  ['### 2.6 ', Database, false],
  ['### 2.7 ', upgradeModules.ok, false],
]
const fields = shapes.flatMap(([heading, shape, isRequest]) =>
  rowsOf(heading).map(([field = '', type = '', third = '']) => ({
    heading,
    shape,
    isRequest,
    field,
    type,
    third,
  })),
)

test('the tables are read', () => {
  expect(fields.map(({ field }) => field).length).toBe(27)
  expect(fields.filter(({ type }) => jsonTypes[type] === undefined)).toEqual([])
})

test.each(fields)(
  '$heading$field is a field of the contract, a $type',
  ({ shape, field, type, isRequest }) => {
    const schema = shape.properties[field]
    expect(schema).toBeDefined()
    expect(typesOf(schema ?? {})).toEqual(expect.arrayContaining([...(jsonTypes[type] ?? [])]))
    // An answer that the specification names is there always.
    if (!isRequest) expect(shape.required).toContain(field)
  },
)

test.each(fields.filter(({ third }) => third === 'yes' || third === 'no'))(
  '$heading$field: required? $third',
  ({ shape, heading, field, third }) => {
    // One module may be named at the top level instead of in the list: a note of an older version has it so.
    const isEither = heading === '### 2.5 ' && field === 'modules'
    expect(shape.required?.includes(field) ?? false).toBe(third === 'yes' && !isEither)
  },
)

test.each(fields.filter(({ third }) => third === 'false'))('$heading$field is $third by default', (one) => {
  expect(one.shape.properties[one.field]?.default).toBe(false)
})

describe.each([
  ['### 4.1 ', authorizeUser],
  ['### 4.2 ', upgradeDatabase],
  ['### 4.3 ', upgradeModules],
] as const)('%s', (heading, operation: Operation) => {
  const rows = rowsOf(heading)
  const cell = (name: string) => rows.find(([item]) => item === name)?.[1]

  test('has its method, path and permission', () => {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    expect(cell('Method and path')).toBe(`${operation.method} ${path}`)
    expect(cell('Required permission')).toBe(operation.permission ?? undefined)
  })

  test('answers with each status, and with a code for it', () => {
    const statuses = rows.flatMap(([code = '']) => /^(\d{3}) /.exec(code)?.[1] ?? []).map(Number)
    expect(statuses.length).toBeGreaterThanOrEqual(3)
    const ofAll: readonly ErrorCode[] = ['invalid_request', 'unauthorized', 'internal_error']
    const ours = new Set([...operation.errors, ...ofAll].map((code) => errors[code].status as number))
    expect(statuses.filter((status) => status !== 200 && !ours.has(status))).toEqual([])
  })
})

test('every error code of the specification is answered by its operation, with the status of that operation', () => {
  const codes = rowsOf('## 7. Errors')
  expect(codes.length).toBe(6)
  for (const [of, code = ''] of codes) {
    const [operation, status] =
      of === 'Authorize' ? ([authorizeUser, 401] as const) : ([upgradeModules, 406] as const)
    expect([code, operation.errors]).toEqual([code, expect.arrayContaining([code])])
    expect([code, errors[code as ErrorCode].status]).toEqual([code, status])
  }
})
