import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { connectOperator } from '../../../../../src/operator/operator-link.ts'
import { startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'

let fairlead: TestControlPlane
afterEach(() => fairlead[Symbol.asyncDispose]())

const credentials = { username: 'ops@example.org', password: 'chosen-by-a-person' }
const create = (body: object) => fairlead.send('POST', '/v1/bootstrap/create_cluster', { body })
const secret = 'known-to-its-owner'

test('a waiting cluster is created once, by the first request, and accepts no login before', async () => {
  fairlead = await startControlPlane({
    bootstrap: 'manual',
    adminPassword: undefined,
    bootstrapSecret: secret,
  })
  expect((await fairlead.send('GET', '/v1/bootstrap')).body).toMatchObject({
    bootstrap_status: { state: 'idle' },
    local_node_info: { software_version: expect.any(String) },
  })
  expect((await fairlead.send('GET', '/v1/users')).status).toBe(401)
  await expect(fairlead.signIn('admin', '')).rejects.toThrow('invalid_request')
  await expect(fairlead.signIn('admin', 'admin')).rejects.toThrow('invalid_credentials')

  const cluster = { name: 'prod.example.org' }
  const weak = { username: 'ops', password: 'short' }
  expect(await create({ cluster, credentials: weak, bootstrap_secret: secret })).toMatchObject({
    status: 400,
    body: { error_code: 'password_not_complex' },
  })
  expect((await create({ cluster, credentials: { username: 'ops' } })).status).toBe(400)
  const answers = await Promise.all(
    ['first', 'second', 'third'].map((name) =>
      create({ action: 'create_cluster', cluster: { name }, credentials, bootstrap_secret: secret }),
    ),
  )
  const made = answers.filter(({ status }) => status === 200)
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
  await fairlead.restart()
  expect((await create({ cluster, credentials })).body['error_code']).toBe('cluster_already_exists')

  const { body } = await fairlead.send('GET', '/v1/bootstrap')
  expect(body).toMatchObject({
    bootstrap_status: { state: 'completed', end_time: expect.any(String) },
    local_node_info: { software_version: expect.any(String) },
  })
  const auth = await fairlead.signIn('OPS@example.org', credentials.password)
  expect((await fairlead.send('GET', '/v1/users/1', { auth })).body).toMatchObject({
    role: 'admin',
    email: credentials.username,
  })
  expect((await fairlead.send('GET', '/v1/cluster', { auth })).body['name']).toBe(made[0]?.body['name'])
})

test('a cluster that creates itself cannot be created by a request, and has no default password', async () => {
  fairlead = await startControlPlane({ adminPassword: undefined })
  expect((await fairlead.send('GET', '/v1/bootstrap')).body).toMatchObject({
    bootstrap_status: { state: 'completed' },
  })
  expect((await create({ cluster: { name: 'mine' }, credentials })).status).toBe(409)
  for (const guess of ['admin', 'password', 'fairlead', 'changeme']) {
    await expect(fairlead.signIn('admin', guess)).rejects.toThrow('invalid_credentials')
  }
})

test('a waiting cluster is created by the owner of the machine: the secret is in a file until the cluster exists', async () => {
  fairlead = await startControlPlane({ bootstrap: 'manual', adminPassword: undefined })
  const file = join(fairlead.home, 'bootstrap.secret')
  const generated = readFileSync(file, 'utf8').trim()
  await fairlead.restart()
  expect([statSync(file).mode & 0o777, readFileSync(file, 'utf8').trim()]).toEqual([0o600, generated])
  const cluster = { name: 'prod.example.org' }
  expect(await create({ cluster, credentials })).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^bootstrap_secret: is missing/) },
  })
  expect((await create({ cluster, credentials, bootstrap_secret: `${generated}x` })).status).toBe(403)
  const odd = { ...credentials, username: 'operator' }
  expect((await create({ cluster, credentials: odd, bootstrap_secret: generated })).status).toBe(400)
  expect((await create({ cluster, credentials, bootstrap_secret: generated })).status).toBe(200)
  expect(existsSync(file)).toBe(false)
  await fairlead.restart()
  expect((await create({ cluster, credentials, bootstrap_secret: generated })).status).toBe(409)
})

test('before a waiting cluster is created, not even the operator of the machine may change anything: a user of the name of the first one would prevent the creation for good', async () => {
  fairlead = await startControlPlane({
    bootstrap: 'manual',
    adminPassword: undefined,
    bootstrapSecret: secret,
  })
  const operator = connectOperator(fairlead.home)
  await expect(operator.authorizeOperator({})).rejects.toThrow(
    'the cluster has not been created yet: send POST /v1/bootstrap/create_cluster first',
  )
  const { status } = await create({ cluster: { name: 'mine' }, credentials, bootstrap_secret: secret })
  expect(status).toBe(200)
  const { access_token: token } = await operator.authorizeOperator({})
  const { body } = await fairlead.send('GET', '/v1/cluster', { auth: `Bearer ${token}` })
  expect(body['name']).toBe('mine')
})
