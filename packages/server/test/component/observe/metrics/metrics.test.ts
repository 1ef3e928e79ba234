import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'

let server: TestControlPlane
beforeEach(async () => {
  server = await startControlPlane()
})
afterEach(() => server[Symbol.asyncDispose]())

const tokenFile = () => join(server.home, 'metrics.token')
const token = () => readFileSync(tokenFile(), 'utf8').trim()

async function scrape(authorization?: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(new URL('/metrics', server.url), {
    headers: authorization === undefined ? {} : { authorization },
  })
  return { status: answer.status, text: await answer.text() }
}

async function addUser(name: string, role: object): Promise<void> {
  const auth = basic('admin', adminPassword)
  const { body } = await server.send('POST', '/v1/roles', { auth, body: role })
  const user = {
    name,
    email: `${name}@example.com`,
    password: `the-password-of-${name}`,
    role_uids: [body['uid']],
  }
  expect(await server.send('POST', '/v1/users', { auth, body: user })).toMatchObject({ status: 200 })
}

describe('metrics are read by', () => {
  // invariant: Metrics need a token or a permission, from this machine too.
  test('no stranger, on this machine either', async () => {
    expect(await scrape()).toMatchObject({ status: 401 })
    expect(await scrape('Bearer a-token-that-is-none')).toMatchObject({ status: 401 })
    expect(await scrape(`Bearer ${token().slice(1)}`)).toMatchObject({ status: 401 })
    expect(await scrape(`Basic ${token()}`)).toMatchObject({ status: 401 })
  })

  test('the bearer of the token in a file that is its owner’s only; another token counts at once', async () => {
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600)
    const first = token()
    expect(await scrape(`Bearer ${first}`)).toMatchObject({ status: 200 })
    writeFileSync(tokenFile(), 'another-token-of-the-operator\n')
    expect(await scrape(`Bearer ${first}`)).toMatchObject({ status: 401 })
    expect(await scrape('Bearer another-token-of-the-operator')).toMatchObject({ status: 200 })
    // A file that is being written.
    writeFileSync(tokenFile(), '')
    expect(await scrape('Bearer ')).toMatchObject({ status: 401 })
  })

  test('the token is good for nothing else', async () => {
    const auth = `Bearer ${token()}`
    expect(await server.send('GET', '/v1/cluster', { auth })).toMatchObject({ status: 401 })
  })

  test('users who may see the statistics of all databases, and no others', async () => {
    await addUser('viewer', { name: 'viewers', management: 'cluster_viewer' })
    expect(await scrape(basic('viewer', 'the-password-of-viewer'))).toMatchObject({ status: 200 })
    expect(await scrape(await server.signIn('viewer', 'the-password-of-viewer'))).toMatchObject({
      status: 200,
    })
    await addUser('keeper', { name: 'keepers', management: 'none' })
    expect(await scrape(basic('keeper', 'the-password-of-keeper'))).toMatchObject({ status: 403 })
    await addUser('limited', {
      name: 'some',
      management: 'db_viewer',
      resources: [{ type: 'db', uids: ['1'] }],
    })
    expect(await scrape(basic('limited', 'the-password-of-limited'))).toMatchObject({ status: 403 })
    const { body } = await server.send('GET', '/v1/logs', { auth: basic('admin', adminPassword) })
    expect(JSON.stringify(body)).toContain('view_cluster_stats')
  })
})

describe('a scrape', () => {
  test('counts answers by operation and class, and logins by how they went', async () => {
    await server.send('POST', '/v1/users/authorize', { body: { username: 'admin', password: 'wrong' } })
    await server.signIn('admin', adminPassword)
    await server.send('GET', '/nothing-there')
    const { text } = await scrape(`Bearer ${token()}`)
    const lines = text.split('\n')
    expect(lines).toContain('fairlead_api_requests_total{operation="authorizeUser",status_class="4xx"} 1')
    expect(lines).toContain('fairlead_api_requests_total{operation="authorizeUser",status_class="2xx"} 1')
    expect(lines).toContain('fairlead_api_requests_total{operation="none",status_class="4xx"} 1')
    expect(lines).toContain('fairlead_logins_total{outcome="wrong"} 1')
    expect(lines).toContain('fairlead_logins_total{outcome="right"} 1')
    expect(text).toMatch(/^fairlead_api_request_duration_seconds_count\{operation="authorizeUser"\} 2$/m)
    expect(text).toMatch(/^fairlead_store_query_duration_seconds_count [1-9]\d*$/m)
    expect(lines).toContain('fairlead_store_up 1')
  })

  test('says that the agent is away, and nothing of shards', async () => {
    const { text } = await scrape(`Bearer ${token()}`)
    expect(text.split('\n')).toContain('fairlead_agent_up{node="1"} 0')
    expect(text.split('\n')).toContain('fairlead_proxy_up{node="1"} 0')
    expect(text).not.toContain('fairlead_shard_up{')
  })

  test('is answered to HEAD as to GET, and to nothing else', async () => {
    const auth = { authorization: `Bearer ${token()}` }
    const url = new URL('/metrics', server.url)
    const head = await fetch(url, { method: 'HEAD', headers: auth })
    expect(head.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const posted = await fetch(url, { method: 'POST', headers: auth })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    await posted.text()
  })
})
