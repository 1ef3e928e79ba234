import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Answer,
  adminPassword,
  startControlPlane,
  type TestControlPlane,
} from '../../../control-plane.ts'
import { bareZip, lyingZip, manifest, sharedObject, zipOf } from '../../../module-package.ts'

let fairlead: TestControlPlane
let admin: string
beforeEach(async () => {
  fairlead = await startControlPlane()
  admin = await fairlead.signIn('admin', adminPassword)
})
afterEach(() => fairlead[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: object, auth = admin) =>
  fairlead.send(method, path, { auth, ...(body && { body }) })
async function post(form: FormData, path = '/v1/modules', auth = admin): Promise<Omit<Answer, 'headers'>> {
  const headers = { authorization: auth }
  const response = await fetch(new URL(path, fairlead.url), { method: 'POST', headers, body: form })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}
function formOf(zip: Buffer, field = 'module'): FormData {
  const form = new FormData()
  form.append(field, new Blob([new Uint8Array(zip)], { type: 'application/zip' }), 'module.zip')
  return form
}
const upload = (zip: Buffer, path?: string, auth?: string) => post(formOf(zip), path, auth)
const folder = () => join(fairlead.home, 'modules')
const files = () => readdirSync(folder())
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const list = async () => (await send('GET', '/v1/modules')).body as unknown as Record<string, unknown>[]
const refused = (code: string, message: string | RegExp) =>
  expect.objectContaining({ error_code: code, message: expect.stringMatching(message) })

test('a module is uploaded, listed, shown, and deleted, and each is an action and in the audit', async () => {
  const so = sharedObject()
  const answer = await upload(zipOf({}, { description: 'counts', min_redis_version: '7.0', version: 10_200 }))
  expect([answer.status, answer.body]).toEqual([
    200,
    expect.objectContaining({
      uid: expect.stringMatching(/^[0-9a-f]{32}$/),
      module_name: 'tally',
      semantic_version: '1.2.0',
      version: 10_200,
      capabilities: ['types', 'persistence_rdb'],
      min_redis_version: '7.0',
      min_engine_version: '7.0',
      compatible_redis_version: null,
      description: 'counts',
      sha256: hashOf(so),
      size_bytes: so.length,
      is_bundled: false,
    }),
  ])
  const { action_uid: uploadAction, ...module } = answer.body
  expect(await list()).toEqual([module])
  const path = `/v1/modules/${String(module['uid'])}`
  expect((await send('GET', path)).body).toEqual(module)
  const file = join(folder(), `${hashOf(so)}.so`)
  expect(readFileSync(file)).toEqual(so)
  expect([statSync(file).mode & 0o777, statSync(folder()).mode & 0o777]).toEqual([0o755, 0o700])

  const deleted = await send('DELETE', path)
  expect(deleted).toMatchObject({ status: 200, body: { action_uid: expect.any(String) } })
  expect([await list(), files()]).toEqual([[], []])
  expect((await send('GET', path)).body).toEqual(refused('module_not_exist', 'does not exist'))
  expect((await send('DELETE', path)).status).toBe(404)

  const logs = (await send('GET', '/v1/logs')).body as unknown as Record<string, unknown>[]
  expect(logs.slice(-2)).toMatchObject(
    ['module_uploaded', 'module_deleted'].map((type) => ({
      type,
      originator: 'admin',
      details: { module: module['uid'], name: 'tally', version: '1.2.0', sha256: hashOf(so) },
    })),
  )
  const actions = await Promise.all(
    [uploadAction, deleted.body['action_uid']].map(async (uid) => ({
      v1: (await send('GET', `/v1/actions/${String(uid)}`)).body,
      v2: (await send('GET', `/v2/actions/${String(uid)}`)).body,
    })),
  )
  expect(actions).toMatchObject(
    ['SMUploadModule', 'SMDeleteModule'].map((name) => ({
      v1: { name, status: 'completed', progress: 100, object_name: `module:${String(module['uid'])}` },
      v2: {
        name,
        status: 'completed',
        additional_info: { object_type: 'module', object_uid: module['uid'] },
      },
    })),
  )
})

test('the second form of the API does the same', async () => {
  const { status, body } = await upload(zipOf(), '/v2/modules')
  expect([status, body]).toMatchObject([200, { module_name: 'tally', action_uid: expect.any(String) }])
  const deleted = await send('DELETE', `/v2/modules/${String(body['uid'])}`)
  expect(deleted).toMatchObject({ status: 200, body: { action_uid: expect.any(String) } })
  expect(files()).toEqual([])
})

test('actions of the catalogue are listed among the others, followed to their end, and take no order', async () => {
  const { body } = await upload(zipOf())
  const uid = String(body['action_uid'])
  const v1 = (await send('GET', '/v1/actions')).body['state-machines'] as Record<string, unknown>[]
  expect(v1.map((action) => action['action_uid'])).toEqual([uid])
  expect((await send('GET', '/v1/actions?status=active')).body['state-machines']).toEqual([])
  expect((await send('GET', '/v2/actions?status=completed')).body).toMatchObject([{ action_uid: uid }])
  expect((await send('POST', `/v1/actions/${uid}/pause`)).body).toMatchObject({ error_code: 'action_ended' })
  const events = await fetch(new URL(`/v1/actions/${uid}/events`, fairlead.url), {
    headers: { authorization: admin },
  })
  expect(await events.text()).toMatch(/"status":"completed"[\s\S]*event: end/)
})

test('a file that two modules share is kept once, and until the last of them goes', async () => {
  const one = (await upload(zipOf())).body['uid']
  const other = (await upload(zipOf({}, { semantic_version: '1.3.0' }))).body['uid']
  expect(files()).toHaveLength(1)
  await send('DELETE', `/v1/modules/${String(one)}`)
  expect(files()).toHaveLength(1)
  await send('DELETE', `/v1/modules/${String(other)}`)
  expect(files()).toEqual([])
})

test('the same name and version again is refused, also when both come at once', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => upload(zipOf())))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400])
  const other = zipOf({ 'tally.so': Buffer.concat([sharedObject(), Buffer.from('x')]) })
  expect((await upload(other)).body).toEqual(
    refused('module_exists', /tally 1\.2\.0 is in the catalogue already/),
  )
  expect([(await list()).length, files().length]).toEqual([1, 1])
})

test('a module that a database or one of its shards has is not deleted', async () => {
  const { body } = await upload(zipOf())
  const uid = String(body['uid'])
  const named = JSON.stringify([{ uid, name: 'tally', semanticVersion: '1.2.0', sha256: 'x', args: '' }])
  await fairlead.withStore(async ({ db }) => {
    const database = {
      name: 'a',
      status: 'active',
      flavour: 'redis',
      version: '7.0.15',
      restart_nonce: 0,
      memory_bytes: 0,
      replicas: 0,
      persistence: 'disabled',
      aof_fsync: 'always',
      snapshots: '[]',
      eviction_policy: 'x',
      admin_password: 'x',
      user_password: 'x',
      cluster: 0,
      oss_cluster: 0,
      tls: 0,
      shard_tls: 0,
      obstacle: '',
      default_user: 1,
      created_at: '2026-01-01',
      changed_at: '2026-01-01',
      seq: 0,
    }
    await db
      .insertInto('databases')
      .values({ ...database, uid: 7, modules: named })
      .execute()
  })
  admin = await fairlead.signIn('admin', adminPassword)
  expect(await send('DELETE', `/v1/modules/${uid}`)).toMatchObject({
    status: 406,
    body: refused('module_in_use', /used by database a;/),
  })
  expect([(await list()).length, files().length]).toEqual([1, 1])
})

test('reading takes view_cluster_modules, changing update_cluster', async () => {
  for (const [name, role] of [
    ['mia', 'db_viewer'],
    ['max', 'cluster_member'],
    ['nil', 'none'],
  ] as const) {
    await send('POST', '/v1/users', { name, password: 'a-password-of-mine', role })
  }
  const [mia, max, nil] = await Promise.all(
    ['mia', 'max', 'nil'].map((name) => fairlead.signIn(name, 'a-password-of-mine')),
  )
  const { body } = await upload(zipOf())
  for (const path of [
    '/v1/modules',
    `/v1/modules/${String(body['uid'])}`,
    '/v1/cluster/module-capabilities',
  ]) {
    expect((await send('GET', path, undefined, mia)).status).toBe(200)
    expect((await send('GET', path, undefined, nil)).status).toBe(403)
  }
  for (const version of ['/v1', '/v2']) {
    expect((await upload(zipOf(), `${version}/modules`, max)).status).toBe(403)
    expect((await send('DELETE', `${version}/modules/${String(body['uid'])}`, undefined, max)).status).toBe(
      403,
    )
  }
})

test('the capabilities that there are have a name and a word of explanation', async () => {
  const { body } = await send('GET', '/v1/cluster/module-capabilities')
  expect(body['all_capabilities']).toContainEqual({
    name: 'clustering',
    desc: expect.stringMatching(/\w{3}/),
  })
})

describe('an invalid package is refused, and nothing of it is kept', () => {
  const data = (text: string) => Buffer.from(text)
  const evil: Readonly<Record<string, readonly [() => Buffer, string, RegExp]>> = {
    'an empty file': [() => Buffer.alloc(0), 'no_module', /is empty/],
    'no zip': [() => randomBytes(5_000), 'invalid_module', /cannot be read as a zip/],
    'a zip that is cut off': [() => zipOf().subarray(0, -30), 'invalid_module', /cannot be read as a zip/],
    'a name that leads out': [() => zipOf({ '../../evil.so': data('x') }), 'invalid_module', /relative path/],
    'an absolute name': [() => zipOf({ '/etc/evil': data('x') }), 'invalid_module', /absolute path/],
    'a name with backslashes': [
      () => zipOf({ '..\\evil': data('x') }),
      'invalid_module',
      /invalid characters/,
    ],
    'a name that cannot be read': [
      () => zipOf({ 'a\u0001é': data('x') }),
      'invalid_module',
      /unreadable name/,
    ],
    'a symbolic link': [
      () => zipOf({ 'link.so': [data('/etc/passwd'), { os: 3, attrs: 0o120_777 << 16 }] }),
      'invalid_module',
      /"link\.so" that is a symbolic link/,
    ],
    'a link in the place of the module': [
      () => zipOf({ 'tally.so': [data('/etc/passwd'), { os: 3, attrs: 0o120_777 << 16 }] }),
      'invalid_module',
      /symbolic link/,
    ],
    'a device': [
      () => zipOf({ dev: [data(''), { os: 3, attrs: 0o060_666 << 16 }] }),
      'invalid_module',
      /device or a pipe/,
    ],
    'a zip bomb of zeros': [
      () => zipOf({ 'tally.so': Buffer.concat([sharedObject(), Buffer.alloc(30_000_000)]) }),
      'invalid_module',
      /unpacks to 30000\d+ bytes from/,
    ],
    'too many entries': [
      () => zipOf(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, data('x')]))),
      'invalid_module',
      /302 entries/,
    ],
    'an encrypted entry': [() => lyingZip('tally.so', 8, 1, 2), 'invalid_module', /is encrypted/],
    'an unknown method': [() => lyingZip('tally.so', 10, 99, 2), 'invalid_module', /by method 99/],
    'a size that is too small': [() => lyingZip('tally.so', 24, 10), 'invalid_module', /too many bytes/],
    'a size that is too large': [() => lyingZip('tally.so', 24, 5_000), 'invalid_module', /not enough bytes/],
    'a wrong checksum': [() => lyingZip('tally.so', 16, 1), 'invalid_module', /checksum of "tally\.so"/],
    'no module.json': [() => bareZip({ 'x.so': sharedObject() }), 'invalid_module', /no module\.json at/],
    'an empty module.json': [() => zipOf({ 'module.json': data('') }), 'invalid_module', /that is not JSON/],
    'module.json that is not JSON': [() => zipOf({ 'module.json': data('{') }), 'invalid_module', /not JSON/],
    'a very large module.json': [
      () => zipOf({ 'module.json': randomBytes(2_000_000) }),
      'invalid_module',
      /module\.json of more than/,
    ],
    'a module.json without a field': [
      () => zipOf({}, { module_name: undefined }),
      'invalid_module',
      /module_name: is missing/,
    ],
    'a version that contradicts': [
      () => zipOf({}, { version: 3 }),
      'invalid_module',
      /version: 3 contradicts/,
    ],
    'a file that is not there': [() => zipOf({}, { module_file: 'x.so' }), 'invalid_module', /no file x\.so/],
    'another hash': [() => zipOf({}, { sha256: 'a'.repeat(64) }), 'invalid_module', /says sha256 aaa/],
    'another architecture by name': [() => zipOf({}, { architecture: 's390x' }), 'invalid_module', /s390x/],
    'another architecture': [
      () => zipOf({ 'tally.so': sharedObject({ machine: 22 }) }),
      'invalid_module',
      /made for another machine \(ELF 22\)/,
    ],
    '32 bits': [
      () => zipOf({ 'tally.so': sharedObject({ bits: 1 }) }),
      'invalid_module',
      /not made for 64 bits/,
    ],
    'an object file': [
      () => zipOf({ 'tally.so': sharedObject({ type: 1 }) }),
      'invalid_module',
      /link it with/,
    ],
    'a program': [
      () => zipOf({ 'tally.so': sharedObject({ interpreter: true }) }),
      'invalid_module',
      /a program or an object file/,
    ],
    'a library that is no module': [
      () => zipOf({ 'tally.so': sharedObject({ text: 'sqlite3_open' }) }),
      'invalid_module',
      /is no module: it has no RedisModule_OnLoad/,
    ],
    'a script': [
      () => zipOf({ 'tally.so': data('#!/bin/sh\n') }),
      'invalid_module',
      /no shared object \(ELF\)/,
    ],
    'another system': [() => zipOf({}, { os: 'darwin' }), 'os_not_supported', /made for darwin/],
    dependencies: [
      () => zipOf({}, { dependencies: { x: {} } }),
      'dependencies_not_supported',
      /x would not be/,
    ],
  }
  // invariant: Nothing of a refused module package is kept.
  test('each for its own reason', async () => {
    for (const [name, [make, code, message]] of Object.entries(evil)) {
      const answer = await upload(make())
      expect([name, answer.status, answer.body]).toEqual([name, 400, refused(code, message)])
      expect([name, files()]).toEqual([name, []])
    }
    expect(await list()).toEqual([])
    const logs = (await send('GET', '/v1/logs')).body as unknown as { type: string }[]
    expect(logs.map(({ type }) => type)).not.toContain('module_uploaded')
  })
})

test('a package has the size that the cluster allows, packed and unpacked, and the refusal does not wait for its end', async () => {
  await send('PUT', '/v1/cluster', { module_upload_max_size_mb: 1 })
  expect((await send('GET', '/v1/cluster')).body).toMatchObject({ module_upload_max_size_mb: 1 })
  const large = await upload(zipOf({ 'tally.so': Buffer.concat([sharedObject(), randomBytes(20_000_000)]) }))
  expect([large.status, large.body]).toEqual([
    400,
    refused('invalid_module', /larger than 1 MB; module_upload_max_size_mb/),
  ])
  const full = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`f${n}`, Buffer.alloc(1_000_000)]))
  expect((await upload(zipOf(full))).body).toEqual(
    refused('invalid_module', /larger than 10485760 bytes unpacked/),
  )
  expect(files()).toEqual([])
  expect((await upload(zipOf())).status).toBe(200)
})

test('a request that is no form with one file in the right field is refused with the right way', async () => {
  expect(await send('POST', '/v1/modules', {})).toMatchObject({
    status: 400,
    body: { error_code: 'no_module' },
  })
  expect((await send('POST', '/v1/modules')).body).toEqual(refused('no_module', /multipart\/form-data/))
  expect((await post(formOf(zipOf(), 'file'))).body).toEqual(
    refused('no_module', /belongs in the field module/),
  )
  expect((await post(new FormData())).body).toMatchObject({
    error_code: expect.stringMatching(/no_module|invalid_request/),
  })
  const asText = new FormData()
  asText.append('module', 'text')
  expect((await post(asText)).body).toEqual(refused('no_module', /curl -F module=@file/))
  const more = formOf(zipOf())
  more.append('also', 'text')
  expect((await post(more)).body).toEqual(refused('invalid_request', /also: is no field/))
  const two = formOf(zipOf())
  two.append('module', new Blob(['x']), 'x')
  expect((await post(two)).body).toEqual(refused('invalid_request', /more than one file/))
  expect([await list(), files()]).toEqual([[], []])
})

test('a form is taken where one is asked for, and nowhere else', async () => {
  const { status, body } = await post(formOf(zipOf()), '/v1/bdbs/1/upgrade')
  expect([status, body]).toEqual([400, refused('invalid_request', /must be JSON/)])
})

test('an incomplete upload leaves nothing, and files that a crash has left are removed at the next start', async () => {
  const { port } = new URL(fairlead.url)
  const socket = connect(Number(port), '127.0.0.1')
  const part = '--b\r\nContent-Disposition: form-data; name="module"; filename="m"\r\n\r\n'
  socket.write(
    `POST /v1/modules HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${admin}\r\nContent-Length: 100000\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n${part}PK`,
  )
  await expect.poll(files).toHaveLength(1)
  socket.destroy()
  await expect.poll(files).toEqual([])

  const { body } = await upload(zipOf())
  const left = ['.draft-0011.zip', '.draft-0011.so', `${'0'.repeat(64)}.so`]
  for (const name of left) writeFileSync(join(folder(), name), 'x')
  await fairlead.restart()
  expect(files()).toEqual([`${String(body['sha256'])}.so`])
  expect(existsSync(folder())).toBe(true)
})

test('a self-test is kept as it was written', async () => {
  const self_test = [
    { command: ['TALLY.ADD', 'a', '1'], reply: 1 },
    { command: ['GET', 'x'], reply: null },
    { command: ['PING'] },
  ]
  const { body } = await upload(zipOf({}, { self_test, ...manifest }))
  expect(body['self_test']).toEqual(self_test)
})
