import { type Operation, operations } from '@fairlead/api'
import serializers from '@fastify/fast-json-stringify-compiler'
import { expect, test } from 'vitest'
import { compileValidator } from './compile-validator.ts'
import { serializeWhenUsed, validateWhenUsed } from './compile-when-used.ts'

const all: readonly Operation[] = Object.values(operations)

test('every schema of the contract can be compiled', () => {
  const compileSerializer = serializers()()
  for (const { method, path: url, params, query, body, ok } of all) {
    for (const [httpPart, schema] of Object.entries({ params, querystring: query, body }))
      if (schema !== undefined) expect(() => compileValidator({ schema, httpPart })).not.toThrow()
    expect(() => compileSerializer({ schema: ok, method, url, httpStatus: '200' })).not.toThrow()
  }
})

test('what checks the input of an operation, and what writes its answer, is made when it is first used, and once', () => {
  let looks = 0
  const schema = watched(() => (looks += 1))
  const check = validateWhenUsed({ schema, httpPart: 'params' })
  const serialize = serializeWhenUsed({ schema, method: 'GET', url: '/' })
  expect(looks).toBe(0)
  expect(check({ name: 'a' })).toEqual({ value: { name: 'a' } })
  expect(serialize({ name: 'a', other: 1 })).toBe('{"name":"a"}')
  const first = looks
  expect(first).toBeGreaterThan(0)
  expect(serialize({ name: 'b' })).toBe('{"name":"b"}')
  expect(looks).toBe(first)
})

/** A schema that tells when its properties are read. */
function watched(onRead: () => void): object {
  return {
    type: 'object',
    get properties() {
      onRead()
      return { name: { type: 'string' } }
    },
  }
}
