import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Operation, operations } from '@fairlead/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimPorts } from '../../../../../../proof/claim-ports.ts'
import { databasesStore } from '../../../../src/fleet/stores/databases-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'
import { databaseOf } from '../../../records.ts'

/* Clumsy programs over HTTPS: bodies of a wrong type, size or encoding, and unknown queries. */

const opened = new AsyncDisposableStack()
let fairlead: TestControlPlane
const tokens: Record<string, string> = {}
let one: Agent
let port: number
beforeAll(async () => {
  port = opened.use(await claimPorts()).from
  fairlead = opened.use(await startControlPlane({ httpsPort: port }))
  await fairlead.withStore(async ({ db }) => {
    const { uid } = await databasesStore(db).insert({ ...databaseOf({ name: 'one' }), groups: 1 })
    await databasesStore(db).setStatus(uid, 'creation-failed', '2026-11-21T12:00:00.000Z')
  })
  const ca = readFileSync(join(fairlead.home, 'ca.pem'), 'utf8')
  const admin = await fairlead.signIn('admin', adminPassword, 86_400)
  tokens['admin'] = admin
  for (const role of ['db_viewer', 'none']) {
    const body = { name: `a-${role}`, password: 'a-password-of-mine', role }
    await fairlead.send('POST', '/v1/users', { auth: admin, body })
    tokens[role] = await fairlead.signIn(body.name, body.password, 86_400)
  }
  one = new Agent({ keepAlive: true, maxSockets: 1, ca })
  opened.defer(() => one.destroy())
})
afterAll(() => opened.disposeAsync())

interface Heard {
  readonly status: number
  readonly text: string
}

async function send(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string | Buffer,
): Promise<Heard> {
  const sent = request({
    agent: one,
    host: '127.0.0.1',
    servername: 'localhost',
    port,
    method,
    path,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
  })
  sent.end(body)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, text }
}

const json = { 'content-type': 'application/json' }
const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
/** None of them is right for any operation. */
const bodies: Readonly<
  Record<string, readonly [headers: Readonly<Record<string, string>>, string | Buffer]>
> = {
  'a field twice': [json, '{"memory_size":1,"memory_size":2,"ssl":false,"ssl":true}'],
  'UTF-16': [{ 'content-type': 'application/json; charset=utf-16' }, Buffer.from('{"a":1}', 'utf16le')],
  'ISO 8859-1': [
    { 'content-type': 'application/json; charset=iso-8859-1' },
    Buffer.from('{"name":"J\u00fcrgen"}', 'latin1'),
  ],
  'no UTF-8': [json, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  gzip: [{ ...json, 'content-encoding': 'gzip' }, gzipSync('{"name":"a"}')],
  'a form': [{ 'content-type': 'application/x-www-form-urlencoded' }, 'name=a'],
  'a list': [json, '[]'],
  'a text': [json, '"name"'],
  'a number': [json, '1'],
  prototypes: [json, '{"__proto__":{"memory_size":1},"constructor":1}'],
  'other types': [
    json,
    '{"name":1,"rack_aware":"false","ssl":"true","tags":{},"background_op":[],"oss_sharding":1,"acl":{},"role":[],"cluster":1}',
  ],
  'depth in any field': [json, `{"background_op":${deep(10_000)},"name":${deep(10_000)}}`],
  'depth in a field that is compared': [
    json,
    `{"shard_key_regex":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  ],
  'a long list': [json, JSON.stringify({ shard_key_regex: Array(20_000).fill({ regex: 'a' }) })],
  'half of a surrogate pair': [json, '{"name":"\\ud800","ssl":"\\udfff"}'],
  'too much': [json, JSON.stringify({ name: 'x'.repeat(300_000) })],
  'half of it': [json, '{"name":'],
}
/** They would end the sessions of this test. */
const ending = /logout|users\/password/
const all = Object.entries(operations).filter(
  ([, { path, stream }]: readonly [string, Operation]) => stream !== true && !ending.test(path),
) as readonly (readonly [string, Operation])[]
const noAgent = /"unavailable","message":"the agent/

const isSound = ({ status, text }: Heard) =>
  (status >= 400 &&
    status < 500 &&
    /^\{"error_code":"[a-z_]+","message":".{1,6000}"(,"obstacles":\[.+\])?\}$/s.test(text)) ||
  (status === 503 && (noAgent.test(text) || text.includes('"bdb_unavailable')))

describe.each(Object.entries(bodies))('%s', (_, [headers, body]) => {
  test('is refused by each operation with a body, in one sentence', async () => {
    const strays: string[] = []
    const taking = all.filter(([, op]) => op.body !== undefined)
    expect(taking.length).toBeGreaterThan(15)
    for (const [name, { method, path }] of taking) {
      const authorization = tokens['admin'] ?? ''
      const heard = await send(method, path.replace(/:\w+/g, '1'), { authorization, ...headers }, body)
      if (!isSound(heard)) strays.push(`${name}: ${heard.status} ${heard.text.slice(0, 200)}`)
    }
    expect(strays).toEqual([])
    expect(fairlead.logged.filter((line) => line.includes('a request failed'))).toEqual([])
  })
})

test('a name in bytes that are no UTF-8 changes nothing: another name than was sent would be kept', async () => {
  const authorization = tokens['admin'] ?? ''
  const body = Buffer.from('{"name":"J\u00fcrgen"}', 'latin1')
  expect(await send('PUT', '/v1/users/1', { authorization, ...json }, body)).toEqual({
    status: 400,
    text: expect.stringContaining('is not UTF-8'),
  })
  const right = await send('PUT', '/v1/users/1', { authorization, ...json }, '\ufeff{"name":"J\u00fcrgen"}')
  expect([right.status, JSON.parse(right.text).name]).toEqual([200, 'J\u00fcrgen'])
})

const queries = [
  ...['fields=uid&fields=name', `fields=${'x'.repeat(5_000)}`, 'extended=maybe', 'a[b]=1', '%', '%ff=1'],
  ...['limit=1e999', 'limit=-1', 'interval=10sec&interval=1hour', 'stime=nonsense', 'object[]=bdb'],
]
test('a query that an operation does not have, or has twice, is refused', async () => {
  const strays: string[] = []
  for (const [n, [name, { method, path }]] of all.filter(([, op]) => op.method === 'GET').entries()) {
    const query = queries[n % queries.length] ?? ''
    const heard = await send(method, `${path.replace(/:\w+/g, '1')}?${query}`, {
      authorization: tokens['admin'] ?? '',
    })
    if (!isSound(heard)) strays.push(`${name}?${query}: ${heard.status} ${heard.text}`)
  }
  expect(strays).toEqual([])
})

test('what programs ask before an upgrade is for users who may see the cluster, and for no other method', async () => {
  const statusOf = async (method: string, path: string, auth?: string) =>
    (await send(method, path, auth === undefined ? {} : { authorization: auth })).status
  const paths = ['nodes/status', 'nodes/1/status', 'cluster/check', 'nodes/1/check', 'cluster/actions']
  for (const path of [...paths, 'nodes/actions', 'nodes/1/actions', 'access'].map((each) => `/v1/${each}`)) {
    const statuses = async (method: string) => {
      const asked = ['admin', 'db_viewer', 'none'].map((role) => statusOf(method, path, tokens[role] ?? ''))
      return [...(await Promise.all(asked)), await statusOf(method, path)]
    }
    expect([path, await statuses('GET')]).toEqual([path, [200, 200, 403, 401]])
    expect([path, await statuses('HEAD')]).toEqual([path, [200, 200, 403, 401]])
    expect([path, await statuses('PUT')]).toEqual([path, [405, 405, 405, 405]])
  }
  const roles = ['admin', 'db_viewer', 'none'].map(async (role) =>
    JSON.parse((await send('GET', '/v1/users/role', { authorization: tokens[role] ?? '' })).text),
  )
  expect(await Promise.all(roles)).toEqual([{ role: 'admin' }, { role: 'db_viewer' }, { role: 'none' }])
})
