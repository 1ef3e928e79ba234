import { getDatabase, listDatabases } from '@fairlead/api'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { selectFields } from './select-fields.ts'

/* A database without shards needs an agent, so this tests only the selection with the contract's schemas. */

let app: FastifyInstance
beforeEach(() => {
  app = Fastify()
  const one = { uid: 7, name: 'orders', status: 'active', shard_list: [1, 2], secret: 'never' }
  for (const [op, path, answer] of [
    [getDatabase, '/one', one],
    [listDatabases, '/all', [one, { ...one, uid: 8 }]],
  ] as const)
    app.get(path, async (request, reply) => selectFields(op, request.query, answer, reply))
})
afterEach(() => app.close())

const ask = async (url: string) => (await app.inject(url)).json()

test('an answer has the fields that are named, of one and of each of a list', async () => {
  expect(await ask('/one?fields=uid,name')).toEqual({ uid: 7, name: 'orders' })
  expect(await ask('/one?fields=%20shard_list%20,%20uid')).toEqual({ uid: 7, shard_list: [1, 2] })
  expect(await ask('/all?fields=uid')).toEqual([{ uid: 7 }, { uid: 8 }])
})

test('a name that the answer does not have is left out, and one that the contract does not have never leaves', async () => {
  expect(await ask('/one?fields=uid,backup_status,constructor,__proto__')).toEqual({ uid: 7 })
  expect(await ask('/one?fields=secret')).toEqual({})
})
