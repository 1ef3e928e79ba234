import { request } from 'node:http'
import { operations } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../control-plane.ts'

/*
 * Requests in the form of the wider API's programs. Without an agent, accepted ones are refused later: the
 * database does not exist (404), or the agent is away (503).
 */

let fairlead: TestControlPlane
let auth: string
beforeAll(async () => {
  fairlead = await startControlPlane()
  auth = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const upgrade = (body: unknown) => fairlead.send('POST', '/v1/bdbs/1/upgrade', { auth, body })
const create = (body: object) =>
  fairlead.send('POST', '/v1/bdbs', { auth, body: { name: 'orders', memory_size: 1 << 30, ...body } })

test.each([
  { keep_redis_version: true },
  { keep_redis_version: false },
  { keep_engine_version: true },
  { redis_version: '8.0' },
  { engine_version: '8.0' },
])('an upgrade with one of two names of a field, %j, contradicts nothing', async (body) => {
  expect(await upgrade(body)).toMatchObject({ status: 404, body: { error_code: 'db_not_exist' } })
})

test.each([
  { redis_version: '8.0' },
  { engine_version: '8.0' },
  { authentication_redis_pass: 'a-password' },
  { authentication_engine_pass: 'a-password' },
])('a creation with one of two names of a field, %j, contradicts nothing', async (body) => {
  expect(await create(body)).toMatchObject({ status: 503, body: { error_code: 'unavailable' } })
})

test('the default slots may be written in each of the usual ways, and others are refused', async () => {
  const whole = '(?<tag>.*)'
  for (const braces of ['.*\\{(?<tag>.*)\\}.*', '.*{(?<tag>.*)}.*'])
    for (const shard_key_regex of [
      [braces, whole],
      [{ regex: braces }, { regex: whole }],
    ])
      expect(await create({ shard_key_regex }), braces).toMatchObject({ status: 503 })
  expect(await create({ shard_key_regex: [whole] })).toMatchObject({
    body: { error_code: 'field_not_available' },
  })
})

test('two names of a field with two values are refused, and both are named', async () => {
  const { status, body } = await upgrade({ keep_redis_version: true, keep_engine_version: false })
  expect([status, body['error_code']]).toEqual([400, 'conflicting_fields'])
  expect(body['message']).toMatch(/keep_engine_version and keep_redis_version/)
})

test('null for an optional field is its absence, at any depth; for one that must be there it is a fault', async () => {
  const nulls = (schema: { readonly properties: object }) =>
    Object.fromEntries(Object.keys(schema.properties).map((name) => [name, null]))
  const { upgradeDatabase, createDatabase } = operations
  expect((await upgrade(nulls(upgradeDatabase.body))).status).toBe(404)
  expect((await upgrade({ modules: [{ module_name: 'search', new_module_args: null }] })).status).toBe(404)
  const { name: _, ...optional } = nulls(createDatabase.body)
  expect((await create({ ...optional, memory_size: 1 << 30 })).status).toBe(503)
  const { status, body } = await create({ name: null })
  expect([status, body['message']]).toEqual([400, expect.stringMatching(/^name: must be a string[^;]*$/)])
})

test.each([
  ['without a Content-Type', undefined],
  ['with a charset', 'application/json; charset=utf-8'],
  ['with a charset, in capitals', 'Application/JSON;charset=UTF-8'],
])('a JSON body %s is taken', async (_, type) => {
  const body = JSON.stringify({ username: 'admin', password: adminPassword })
  expect(
    (await post('/v1/users/authorize', body, type === undefined ? {} : { 'content-type': type })).status,
  ).toBe(200)
})

test('a body without a type is refused from a web page, because a browser sends it to any server', async () => {
  const body = JSON.stringify({ username: 'admin', password: 'wrong' })
  const { status, text } = await post('/v1/users/authorize', body, { origin: 'https://a.page' })
  expect([status, text]).toEqual([400, expect.stringContaining('Content-Type: application/json')])
})

test('every wrong field of a query is named', async () => {
  const { status, body } = await fairlead.send('GET', '/v1/logs?limit=4e0&order=up', { auth })
  expect([status, body['message']]).toEqual([
    400,
    expect.stringMatching(/^limit: must be an integer, written in digits; order: must be one of asc, desc$/),
  ])
})

test('a body that is no JSON, or says so, is refused with the way out', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const { status, text } = await post('/v1/users/authorize', '{}', { 'content-type': type })
    expect([status, text]).toEqual([400, expect.stringContaining('Content-Type: application/json')])
  }
  const { status, text } = await post('/v1/users/authorize', 'username=admin', {})
  expect([status, text]).toEqual([400, expect.stringContaining('not valid JSON')])
})

test('a name and a password come as Basic instead of in the body, with or without one', async () => {
  const authorization = basic('admin', adminPassword)
  for (const body of ['', '{}', '{"ttl":60}', '{"username":null}']) {
    const { status, text } = await post('/v1/users/authorize', body, { authorization })
    expect([body, status, text]).toEqual([body, 200, expect.stringContaining('access_token')])
  }
  const form = { authorization, 'content-type': 'application/x-www-form-urlencoded' }
  expect((await post('/v1/users/authorize', '', form)).status).toBe(200)
  expect((await post('/v1/users/authorize', 'a=1', form)).status).toBe(400)
  const wrong = await post('/v1/users/authorize', '', { authorization: basic('admin', 'wrong') })
  expect([wrong.status, wrong.text]).toEqual([401, expect.stringContaining('invalid_credentials')])
  const none = await post('/v1/users/authorize', '', {})
  expect([none.status, none.text]).toEqual([400, expect.stringContaining('username: is missing')])
})

test('fields of databases are named in the query, those of other databases too', async () => {
  for (const query of [
    'fields=uid,name,backup_status',
    'extended=true',
    'extended=True',
    'extended',
    'fields=',
  ])
    expect(await fairlead.send('GET', `/v1/bdbs?${query}`, { auth }), query).toMatchObject({ status: 200 })
  expect((await fairlead.send('GET', '/v1/bdbs/1?fields=uid&extended=false', { auth })).status).toBe(404)
  expect((await fairlead.send('GET', '/v1/bdbs?field=uid', { auth })).status).toBe(400)
})

test('requests that programs send before others are answered, also without an agent', async () => {
  const get = (path: string) => fairlead.send('GET', path, { auth })
  expect(await get('/v1/nodes/1')).toMatchObject({ status: 200, body: { uid: 1, status: 'down' } })
  expect(await get('/v1/nodes/2')).toMatchObject({ status: 404, body: { error_code: 'node_not_exist' } })
  expect((await get('/v1/shards')).body).toEqual([])
  expect(await get('/v1/shards/1')).toMatchObject({ status: 404, body: { error_code: 'shard_not_exist' } })
  expect((await get('/v1/crdbs')).body).toEqual([])
  const lag = 'extend_check=lag&availability_lag_tolerance_ms=5000'
  for (const query of ['', `?${lag}`, '?extend_check=lag'])
    for (const path of ['/v1/bdbs/1/availability', '/v1/local/bdbs/1/endpoint/availability'])
      expect(await get(`${path}${query}`)).toMatchObject({
        status: 404,
        body: { error_code: 'db_not_exist' },
      })
  for (const wrong of ['extend_check=load', 'availability_lag_tolerance_ms=100', `${lag}0000`])
    expect((await get(`/v1/bdbs/1/availability?${wrong}`)).status, wrong).toBe(400)
})

test('a license never ends and has no limit, in values that programs compute with', async () => {
  const { body } = await fairlead.send('GET', '/v1/license', { auth })
  expect(body).toMatchObject({ expired: false, key: '', ram_shards_in_use: 0, flash_shards_in_use: 0 })
  const yearsLeft = (Date.parse(String(body['expiration_date'])) - Date.now()) / (365 * 86_400_000)
  // Times in nanoseconds of 64 bits end in 2262.
  expect(yearsLeft).toBeGreaterThan(100)
  expect(Date.parse(String(body['expiration_date']))).toBeLessThan(Date.parse('2262-01-01'))
  expect(body['shards_limit']).toBe(body['ram_shards_limit'])
  expect(body['shards_limit']).toBeGreaterThan(65_535)
})

test('lists of what Fairlead does not have are empty, and cannot be added to', async () => {
  const get = (path: string) => fairlead.send('GET', path, { auth })
  for (const path of ['crdbs', 'crdb_tasks', 'ldap_mappings', 'proxies', 'services', 'suffixes']) {
    expect(await get(`/v1/${path}`), path).toMatchObject({ status: 200, body: [] })
    const { status } = await fairlead.send('POST', `/v1/${path}`, { auth, body: {} })
    expect(status, path).toBe(405)
  }
  for (const path of ['bdbs/alerts', 'nodes/alerts', 'nodes/alerts/1', 'cluster/alerts?ignore_settings=true'])
    expect(await get(`/v1/${path}`), path).toMatchObject({ status: 200, body: {} })
  expect(await get('/v1/bdbs/alerts/7')).toMatchObject({ status: 404, body: { error_code: 'db_not_exist' } })
  expect(await get('/v1/nodes/alerts/2')).toMatchObject({ body: { error_code: 'node_not_exist' } })
  expect((await fairlead.send('POST', '/v1/bdbs/alerts/7', { auth, body: {} })).status).toBe(405)
})

test('two slashes count as one', async () => {
  for (const path of ['//v1/users', '/v1//users', '//v1//users/'])
    expect((await send('GET', path, '', { authorization: auth })).status, path).toBe(200)
})

test.each(['4.0', '0x4', '4e0', '+4', '-4', ' 4', '4 '])(
  'the uid of a database in a path has digits only: %j is refused',
  async (uid) => {
    const { status, body } = await fairlead.send('GET', `/v1/bdbs/${encodeURIComponent(uid)}`, { auth })
    expect(status).toBeOneOf([400, 404])
    expect(body['error_code']).toBeOneOf(['invalid_request', 'not_found'])
  },
)

test('a word in place of a uid is an unknown path', async () => {
  for (const path of ['/v1/bdbs/crdt', '/v1/users/ldap', '/v1/roles/all'])
    expect(await fairlead.send('GET', path, { auth })).toMatchObject({
      status: 404,
      body: { error_code: 'not_found' },
    })
})

test('another method than those of a path is answered 405, with those that there are', async () => {
  for (const [method, path, allowed] of [
    ['PATCH', '/v1/bdbs/1', 'DELETE, GET, HEAD, PUT'],
    ['GET', '/v1/users/authorize', 'POST'],
    ['DELETE', '/v1/bdbs', 'GET, HEAD, POST'],
  ] as const) {
    const { status, headers, body } = await fairlead.send(method, path)
    expect([path, status, headers.get('allow'), body['error_code']]).toEqual([
      path,
      405,
      allowed,
      'method_not_allowed',
    ])
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const answered = await post('/v1/nodes', 'a=1', form)
  expect([answered.status, answered.headers['allow']]).toEqual([405, 'GET, HEAD'])
  expect((await post('/v1/nothing', '{', { 'content-type': 'application/json' })).status).toBe(404)
})

test('HEAD is answered as GET is, without a body', async () => {
  const { status, text, headers } = await send('HEAD', '/v1/users', '', { authorization: auth })
  expect([status, text]).toEqual([200, ''])
  expect(Number(headers['content-length'])).toBeGreaterThan(10)
  expect((await send('HEAD', '/v1/users', '', {})).status).toBe(401)
})

const post = (path: string, body: string, headers: Readonly<Record<string, string>>) =>
  send('POST', path, body, headers)

/** By hand: `fetch` names a Content-Type by itself. */
async function send(method: string, path: string, body: string, headers: Readonly<Record<string, string>>) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number
    text: string
    headers: NodeJS.Dict<string | string[]>
  }>()
  const { hostname, port } = new URL(fairlead.url)
  const sent = request({ hostname, port, path, method, headers }, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
  })
  sent.on('error', reject)
  sent.end(body)
  return await promise
}

test.each([
  ['/v1/bdbs?q=%ff', 'q'],
  ['/v1/users?limit=1&q=caf%E9', 'q'],
  ['/v1/bdbs?q=100%', 'q'],
  ['/v1/actions?%c3%28=1', 'the query'],
  ['/v1/events?topics=%ff', 'topics'],
])('a query whose bytes are no text, %s, is refused with the name of the field', async (path, field) => {
  const { status, body } = await fairlead.send('GET', path, { auth })
  const message = `${field}: is not percent-encoded UTF-8; a percent sign itself is %25`
  expect([status, body['error_code'], body['message']]).toEqual([400, 'invalid_request', message])
})
