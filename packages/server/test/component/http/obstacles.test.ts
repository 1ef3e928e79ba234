import { ApiError, createClient, fetchTransport, operations } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databasesStore } from '../../../src/fleet/stores/databases-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'
import { databaseOf } from '../../records.ts'

let fairlead: TestControlPlane
let auth: string
beforeAll(async () => {
  fairlead = await startControlPlane()
  await fairlead.withStore(({ db }) =>
    databasesStore(db).insert({ ...databaseOf({ name: 'orders' }), groups: 1 }),
  )
  auth = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const create = (body: object) => fairlead.send('POST', '/v1/bdbs', { auth, body })
const named = { name: 'carts', memory_size: 1 << 30 }

/** Of each obstacle its code and its field; that the message is made of all of them. */
function partsOf(body: Record<string, unknown>): readonly (readonly [string, string | null])[] {
  const obstacles = body['obstacles'] as {
    readonly error_code: string
    readonly message: string
    readonly field: string | null
  }[]
  expect(body['message']).toBe(obstacles.map(({ message }) => message).join('; '))
  expect(body['error_code']).toBe(obstacles[0]?.error_code)
  return obstacles.map(({ error_code, field }) => [error_code, field])
}

test('of a body with several faults of form each is an obstacle with its field, also one that is missing or not known', async () => {
  const { status, body } = await create({ memory_size: -1, sise: 3, module_list: [{ module_name: 7 }] })
  expect(status).toBe(400)
  expect(new Set(partsOf(body).map(([, field]) => field))).toEqual(
    new Set(['name', 'sise', 'memory_size', 'module_list.0.module_name']),
  )
})

test('of more faults than are named the first 20 are obstacles', async () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x${n}`, 1]))
  const { body } = await create({ ...named, ...many })
  expect(body['obstacles']).toHaveLength(20)
  expect(body['message']).toMatch(/; and more$/)
})

test('fields that would have no effect, and values that are not offered, are an obstacle each', async () => {
  const unused = { ...named, shards_count: 2, oss_cluster: true, port: 11_000, tls_mode: 'enabled' }
  expect(partsOf((await create(unused)).body)).toEqual([
    ['conflicting_fields', 'port'],
    ['conflicting_fields', 'tls_mode'],
  ])
  expect(partsOf((await create({ ...named, rack_aware: true, crdt: true })).body).toSorted()).toEqual([
    ['field_not_available', 'crdt'],
    ['field_not_available', 'rack_aware'],
  ])
  const spelt = await create({ ...named, engine_version: '8.1', redis_version: '8.0' })
  expect(partsOf(spelt.body)).toEqual([['conflicting_fields', 'engine_version']])
})

test('fields that cannot be changed are an obstacle each, and the message is one sentence for all', async () => {
  const body = { sharding: true, shards_count: 4 }
  const answer = await fairlead.send('PUT', '/v1/bdbs/1', { auth, body })
  expect(answer.body).toMatchObject({
    message: expect.stringMatching(/^sharding, shards_count: cannot be changed; memory_size, /),
    obstacles: [
      {
        error_code: 'field_not_available',
        field: 'sharding',
        message: expect.stringMatching(/^sharding: cannot be/),
      },
      { error_code: 'field_not_available', field: 'shards_count' },
    ],
  })
})

test('a single reason is a list of one, which the typed client has, too', async () => {
  const small = { name: 'carts', memory_size: 1 }
  const { body } = await create(small)
  expect(partsOf(body)).toEqual([['memory_size_too_small', 'memory_size']])
  const client = createClient(operations, fetchTransport(fairlead.url), () => auth.replace('Bearer ', ''))
  const thrown = await client.createDatabase({ body: small }).catch((cause: unknown) => cause)
  expect(thrown).toBeInstanceOf(ApiError)
  expect((thrown as ApiError).obstacles).toEqual(body['obstacles'])
})

test('an answer that is no refusal by a rule has no obstacles', async () => {
  for (const [path, status, who] of [
    ['/v1/bdbs/77', 404, auth],
    ['/v1/bdbs', 401, 'Bearer x'],
  ] as const) {
    const answer = await fairlead.send('GET', path, { auth: who })
    expect([answer.status, Object.keys(answer.body)]).toEqual([status, ['error_code', 'message']])
  }
})
