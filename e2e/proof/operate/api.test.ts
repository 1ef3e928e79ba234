import { once } from 'node:events'
import { connect } from 'node:net'
import { operations } from '@fairlead/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build, findBuild } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const valkey81 = build('valkey', '8.1')

/** One request, as any client may send it. */
async function send(
  method: string,
  path: string,
  options: { readonly body?: string; readonly headers?: Record<string, string> } = {},
) {
  const response = await fetch(new URL(path, fairlead.url), {
    method,
    headers: {
      authorization: `Bearer ${fairlead.token}`,
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body !== undefined && { body: options.body }),
  })
  return {
    status: response.status,
    body: (await response.json()) as { error_code?: string; message?: string } & Record<string, unknown>,
  }
}

const create = (body: object) => send('POST', '/v1/bdbs', { body: JSON.stringify(body) })

async function createAndWait(body: object): Promise<number> {
  const { body: answer } = await create(body)
  await fairlead.untilEnded(String(answer['action_uid']))
  return Number(answer['uid'])
}

describe('a malformed request is refused with 400, and the message names what is wrong', () => {
  const cases: readonly (readonly [string, string, string, RegExp])[] = [
    [
      'a wrong type',
      '/v1/bdbs',
      '{"name": "a", "memory_size": "1"}',
      /memory_size: must be an integer \(.* in bytes\)/,
    ],
    [
      'an unknown field',
      '/v1/bdbs',
      '{"name": "a", "memory_size": 0, "shiny": 1}',
      /shiny: is not a field of the body/,
    ],
    ['a missing field', '/v1/bdbs', '{"name": "a"}', /memory_size: is missing/],
    [
      'several faults at once',
      '/v1/bdbs',
      '{"memory_size": true, "shiny": 1}',
      /name: is missing.*shiny.*memory_size/,
    ],
    ['malformed JSON', '/v1/bdbs', '{"name": "a" "x"}', /cannot be understood: .* at position 13 \(line 1 /],
    ['no body where one is needed', '/v1/bdbs', '', /body/],
    ['a poisoned prototype', '/v1/bdbs', '{"__proto__": {"a": 1}}', /cannot be understood/],
    [
      'a boolean as text',
      '/v1/bdbs/1/upgrade',
      '{"force_restart": "true"}',
      /force_restart: must be a boolean/,
    ],
    [
      'a text that is not a version',
      '/v1/bdbs/1/upgrade',
      '{"engine_version": "newest"}',
      /engine_version: must be of this form: A version like/,
    ],
    ['a number that is not a uid', '/v1/bdbs/4.0/upgrade', '{}', /uid: .*written in digits/],
    ['an unknown query', '/v1/bdbs/1/upgrade?force=true', '{}', /force: is not a field of the query/],
    ['an empty name', '/v1/users/authorize', '{"username": "", "password": "x"}', /username/],
    [
      'a life that is too long',
      '/v1/users/authorize',
      '{"username": "a", "password": "x", "ttl": 86401}',
      /ttl: must be <= 86400/,
    ],
  ]
  for (const [what, path, body, message] of cases) {
    test(what, async () => {
      const answer = await send('POST', path, { body })
      expect(answer).toMatchObject({ status: 400, body: { error_code: 'invalid_request' } })
      expect(answer.body.message).toMatch(message)
    })
  }

  test('another content type', async () => {
    const answer = await send('POST', '/v1/bdbs', {
      body: 'name=a',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('application/json') },
    })
  })
})

describe('a token is needed', () => {
  test('for everything except the login, health and the document', async () => {
    for (const { method, path, permission } of Object.values(operations)) {
      const answer = await send(method, path.replace(/:\w+/g, '1'), {
        headers: { authorization: '' },
        ...(method === 'POST' && { body: '{}' }),
      })
      if (permission === null) expect(answer.status).not.toBe(401)
      else expect(answer).toMatchObject({ status: 401, body: { error_code: 'unauthorized' } })
    }
  })

  test('and Bearer and JWT in any letter case are one', async () => {
    for (const scheme of ['Bearer', 'bearer', 'JWT', 'jwt']) {
      expect(
        (await send('GET', '/v1/bdbs', { headers: { authorization: `${scheme} ${fairlead.token}` } })).status,
      ).toBe(200)
    }
  })

  test('and a token that was changed, or is unsigned, is refused', async () => {
    const [head = '', body = '', signature = ''] = fairlead.token.split('.')
    const forged = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), sub: '2' }),
    ).toString('base64url')
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
    const tokens = [`${head}.${forged}.${signature}`, `${unsigned}.${body}.`, `${head}.${body}.`, 'x', '']
    for (const token of tokens) {
      const { status } = await send('GET', '/v1/bdbs', { headers: { authorization: `Bearer ${token}` } })
      expect(status).toBe(401)
    }
  })

  test('and a wrong password and an unknown user get the same answer', async () => {
    const answers = await Promise.all(
      [
        { username: 'admin', password: 'wrong' },
        { username: 'nobody', password: 'wrong' },
      ].map((body) => send('POST', '/v1/users/authorize', { body: JSON.stringify(body) })),
    )
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject({ status: 401, body: { error_code: 'invalid_credentials' } })
  })

  test('and a token with a ttl of a second expires after it', async () => {
    const answer = await send('POST', '/v1/users/authorize', {
      body: JSON.stringify({ username: 'admin', password: 'the-proof-is-in-the-ledger', ttl: 1 }),
    })
    const { exp, iat } = JSON.parse(
      Buffer.from(String(answer.body['access_token']).split('.')[1] ?? '', 'base64url').toString(),
    ) as { exp: number; iat: number }
    expect(exp - iat).toBe(1)
  })
})

describe('an unknown path or object is 404', () => {
  const cases = [
    ['GET', '/v1/bdbs/999', 'db_not_exist'],
    ['DELETE', '/v1/bdbs/999', 'db_not_exist'],
    ['POST', '/v1/bdbs/999/upgrade', 'db_not_exist'],
    ['GET', '/v1/bdbs/999/shards', 'db_not_exist'],
    ['GET', '/v1/actions/999', 'action_not_exist'],
    ['GET', '/v1/nothing', 'not_found'],
    ['POST', '/v1/bdbs/x/upgrade', 'not_found'],
  ] as const
  for (const [method, path, code] of cases) {
    test(`${method} ${path}`, async () => {
      expect(await send(method, path)).toMatchObject({
        status: 404,
        body: { error_code: code, message: expect.any(String) },
      })
    })
  }
})

describe('a database', () => {
  test('is created with the requested fields, and shows them', async () => {
    const uid = await createAndWait({
      name: 'orders',
      memory_size: 50_000_000,
      replication: true,
      data_persistence: 'aof',
      aof_policy: 'appendfsync-always',
      eviction_policy: 'allkeys-lru',
      engine_version: '8.1',
      authentication_redis_pass: 'an-own-password',
    })
    const { body } = await send('GET', `/v1/bdbs/${uid}`)
    expect(body).toMatchObject({
      uid,
      name: 'orders',
      status: 'active',
      engine: 'valkey',
      version: valkey81.replace('valkey-', ''),
      memory_size: 50_000_000,
      replication: true,
      data_persistence: 'aof',
      aof_policy: 'appendfsync-always',
      eviction_policy: 'allkeys-lru',
      authentication_engine_pass: 'an-own-password',
      endpoints: [{ addr: ['127.0.0.1'] }],
    })
    const { body: shards } = await send('GET', `/v1/bdbs/${uid}/shards`)
    expect(shards).toMatchObject([
      { bdb_uid: uid, role: 'master', status: 'active' },
      { bdb_uid: uid, role: 'slave', status: 'active' },
    ])
    expect(await create({ name: 'orders', memory_size: 0 })).toMatchObject({
      status: 409,
      body: { error_code: 'name_already_exists' },
    })
  })

  test('of one name is created once, however many requests come at one moment', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => create({ name: 'twice', memory_size: 0 })))
    const codes = answers.map(({ body }) => body.error_code ?? 'created').toSorted()
    expect(codes).toEqual(['created', 'name_already_exists', 'name_already_exists'])
  })

  const refusals: readonly (readonly [object, number, string, RegExp])[] = [
    [
      { engine_version: '5.0' },
      400,
      'invalid_version',
      /no build of valkey 5\.0 here\. There is: redis 7\.0/,
    ],
    [{ engine_version: '8.1', redis_version: '8.0' }, 400, 'conflicting_fields', /same field/],
    [{ sharding: true, oss_cluster: true, port: 12_000 }, 400, 'conflicting_fields', /port.*oss_cluster/],
    [
      { sharding: true, oss_cluster: true, tls_mode: 'enabled' },
      400,
      'conflicting_fields',
      /tls_mode.*do not speak TLS/,
    ],
    [{ tls_mode: 'replica_ssl' }, 400, 'field_not_available', /tls_mode replica_ssl is not available/],
    [{ tls_mode: 'required' }, 400, 'invalid_request', /tls_mode: must be one of enabled, disabled/],
    [{ sharding: false, shards_count: 3 }, 400, 'conflicting_fields', /shards_count.*sharding/],
    [{ shards_count: 65 }, 400, 'invalid_request', /shards_count/],
    [
      { aof_policy: 'appendfsync-always', data_persistence: 'disabled' },
      400,
      'conflicting_fields',
      /aof_policy needs/,
    ],
  ]
  for (const [fields, status, code, message] of refusals) {
    test(`is refused with ${JSON.stringify(fields)}`, async () => {
      const answer = await create({ name: 'refused', memory_size: 0, ...fields })
      expect(answer).toMatchObject({
        status,
        body: { error_code: code, message: expect.stringMatching(message) },
      })
      expect((await fairlead.api.listDatabases({})).map(({ name }) => name)).not.toContain('refused')
    })
  }

  test('keeps the requested port, which no other database gets then', async () => {
    const port = Number(new URL(fairlead.url).port) - 50
    const uid = await createAndWait({ name: 'known', memory_size: 0, port })
    expect((await send('GET', `/v1/bdbs/${uid}`)).body).toMatchObject({
      port,
      endpoints: [{ uid: `${uid}:1`, port }],
    })
    expect((await send('GET', `/v1/bdbs/${uid}/availability`)).body).toEqual({ available: true })
    expect((await send('GET', `/v1/bdbs/${uid}/endpoint/stats`)).body).toMatchObject({
      port,
      state: 'serving',
      repoints: 0,
    })
    const client = connect({ host: '127.0.0.1', port })
    client.write('PING\r\n') // Only when the endpoint has answered, the client is certainly in its list.
    await once(client, 'data')
    const listed = await send('GET', `/v1/bdbs/${uid}/endpoint/clients?limit=1`)
    expect(listed.body).toEqual({
      connections: 1,
      clients: [
        {
          client: `127.0.0.1:${client.localPort}`,
          name: '',
          user: 'default',
          held: false,
          via: expect.any(Array),
          connected_at: expect.stringMatching(/^\d{4}-.*Z$/),
        },
      ],
    })
    const none = await send('GET', `/v1/bdbs/${uid}/endpoint/clients?via=10.0.0.1:1`)
    expect(none.body).toEqual({ connections: 1, clients: [] })
    expect(await send('GET', `/v1/bdbs/${uid}/endpoint/clients?limit=0`)).toMatchObject({ status: 400 })
    client.destroy()
    expect(await create({ name: 'second', memory_size: 0, port })).toMatchObject({
      status: 400,
      body: { error_code: 'port_unavailable', message: expect.stringMatching(`${port} is taken`) },
    })
    const deletion = await send('DELETE', `/v1/bdbs/${uid}`)
    await fairlead.untilEnded(String(deletion.body['action_uid']))
    await createAndWait({ name: 'third', memory_size: 0, port })
  })

  test('has one change at a time, and is gone with its processes when deleted', async () => {
    const { body } = await create({ name: 'short-lived', memory_size: 0 })
    const uid = Number(body['uid'])
    const busy = await send('DELETE', `/v1/bdbs/${uid}`)
    expect(busy).toMatchObject({ status: 409, body: { error_code: 'db_busy' } })
    await fairlead.untilEnded(String(body['action_uid']))
    const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
    const deletion = await send('DELETE', `/v1/bdbs/${uid}`)
    await fairlead.untilEnded(String(deletion.body['action_uid']))
    expect((await send('GET', `/v1/bdbs/${uid}`)).status).toBe(404)
    const [node] = await fairlead.api.listNodes({})
    expect(node?.shard_list).not.toContain(Number(shards[0]?.uid))
  })
})

describe('an upgrade', () => {
  let uid: number
  beforeAll(async () => {
    uid = await createAndWait({
      name: 'upgraded',
      memory_size: 0,
      replication: true,
      engine_version: build('valkey', '8.0'),
    })
  })
  const upgrade = (body: object) => send('POST', `/v1/bdbs/${uid}/upgrade`, { body: JSON.stringify(body) })

  const refusals: readonly (readonly [object, number, string, RegExp])[] = [
    [{ engine_version: '9.9' }, 400, 'invalid_version', /There is:/],
    [{ engine_version: 'redis-7.0' }, 406, 'upgrade_path_unsupported', /cannot read/],
    [{ preserve_roles: true, swap_roles: true }, 400, 'conflicting_fields', /preserve_roles and swap_roles/],
    [{ keep_engine_version: true, engine_version: '8.1' }, 400, 'conflicting_fields', /keep_engine_version/],
    [{ keep_redis_version: true, keep_engine_version: false }, 400, 'conflicting_fields', /same field/],
    [{ force_discard: true, preserve_roles: true }, 400, 'conflicting_fields', /force_discard/],
    [{ modules: [{ module_name: 'search' }] }, 406, 'missing_module', /search/],
    [
      { modules: [{}], swap_roles: true, preserve_roles: true, engine_version: '9.9' },
      400,
      'conflicting_fields',
      /swap_roles.*modules\[0\].*9\.9/,
    ],
  ]
  for (const [fields, status, code, message] of refusals) {
    test(`is refused with ${JSON.stringify(fields)}, and nothing changes`, async () => {
      expect(await upgrade(fields)).toMatchObject({
        status,
        body: { error_code: code, message: expect.stringMatching(message) },
      })
      expect((await send('GET', `/v1/bdbs/${uid}`)).body).toMatchObject({ status: 'active' })
    })
  }

  test('that would change nothing is answered 200, with an action that is completed and says why', async () => {
    const { action_uid } = (await upgrade({ keep_engine_version: true })).body
    const { body } = await send('GET', `/v1/actions/${action_uid}`)
    expect(body).toMatchObject({ status: 'completed', warnings: [expect.stringContaining('already')] })
  })

  test('is a second change while one runs, and goes to the newest build by default', async () => {
    const { status, body } = await upgrade({
      swap_roles: true,
      parallel_shards_upgrade: 2,
      may_discard_data: true,
      keep_crdt_protocol_version: true,
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'active-change-pending', action_uid: expect.any(String) },
    })
    expect(await upgrade({})).toMatchObject({ status: 409, body: { error_code: 'db_busy' } })
    const action = await fairlead.untilEnded(String(body['action_uid']))
    expect(action).toMatchObject({
      status: 'completed',
      progress: 100,
      name: 'SMUpgradeBDB',
      pending_ops: {},
    })
    expect((await send('GET', `/v1/bdbs/${uid}`)).body).toMatchObject({
      engine_version: findBuild('valkey')?.replace('valkey-', ''),
      status: 'active',
    })
    expect(await upgrade({ engine_version: '8.0' })).toMatchObject({
      status: 400,
      body: { error_code: 'engine_downgrade_unsupported' },
    })
  })

  test('with force_restart gives every shard a new process without a new version, and keeps the roles if asked', async () => {
    const before = await fairlead.api.getDatabase({ params: { uid } })
    const { body } = await upgrade({ force_restart: true, keep_engine_version: true, preserve_roles: true })
    expect((await fairlead.untilEnded(String(body['action_uid']))).certificates.length).toBe(2)
    const after = await fairlead.api.getDatabase({ params: { uid } })
    expect(after).toMatchObject({
      engine_version: before.engine_version,
      port: before.port,
      shard_list: before.shard_list,
    })
  })
})
