import { type Operation, operations } from '@fairlead/api'
import serializers from '@fastify/fast-json-stringify-compiler'
import Fastify from 'fastify'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { until } from '../../../../../proof/until.ts'
import { compileValidator } from '../../../src/http/compile-validator.ts'
import { compileWhenUsed, serializeWhenUsed, validateWhenUsed } from '../../../src/http/compile-when-used.ts'

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

test('what writes the events of a stream is made for each type when there is the first of it, and not for all in one piece', () => {
  let looks = 0
  const typed = (type: string, onRead: () => void) =>
    watched(onRead, { type: { type: 'string', const: type }, [type]: { type: 'string' } })
  const schema = { anyOf: [typed('a', () => undefined), typed('b', () => (looks += 1))] }
  const print = serializeWhenUsed({ schema, method: 'GET', url: '/' })
  const before = looks
  expect(print({ type: 'a', a: '1', b: '2', secret: '3' })).toBe('{"type":"a","a":"1"}')
  expect(looks).toBe(before)
  expect(print({ type: 'b', a: '1', b: '2', secret: '3' })).toBe('{"type":"b","b":"2"}')
  expect(looks).toBeGreaterThan(before)
})

test.each(all.filter(({ stream }) => stream === true).map(({ path, ok }) => [path, ok] as const))(
  'an event of %s is written as by the code for all types together',
  (url, schema) => {
    const [route, types] = [{ schema, method: 'GET', url }, (schema as { readonly anyOf: TSchema[] }).anyOf]
    const [parts, whole] = [serializeWhenUsed(route), serializers()()({ ...route, httpStatus: '200' })]
    expect(types.length).toBeGreaterThan(2)
    for (const type of types) {
      const event = { ...(Value.Create(type) as object), secret: 'not in the contract' }
      expect(parts(event)).toBe(whole(event))
      expect(parts(event)).not.toContain('secret')
    }
  },
)

test('what was not asked for is made later, also by a server that nothing asks', async () => {
  let looks = 0
  await using app = Fastify()
  compileWhenUsed(app, { afterMs: 1, everyMs: 1 })
  app.get('/', { schema: { response: { 200: watched(() => (looks += 1)) } } }, () => ({ name: 'a' }))
  await app.ready()
  const before = looks
  await app.listen({ port: 0, host: '127.0.0.1' })
  await until('it is made', () => looks > before)
})

/** A schema that tells when its properties are read. */
function watched(onRead: () => void, properties: object = { name: { type: 'string' } }): object {
  return {
    type: 'object',
    get properties() {
      onRead()
      return properties
    },
  }
}
