import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'

let fairlead: TestControlPlane
let admin: string
beforeAll(async () => {
  fairlead = await startControlPlane({ hostNames: ['fairlead.example.org'] })
  admin = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => fairlead[Symbol.asyncDispose]())

/** The server's answer to these bytes. */
function say(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(fairlead.url).port), host: '127.0.0.1' })
    let heard = ''
    socket.on('data', (chunk) => {
      heard += chunk.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(heard))
    socket.write(text)
  })
}
const ask = (...headers: string[]) =>
  say(
    `GET /v1/bootstrap HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join('')}Connection: close\r\n\r\n`,
  )

describe('a request to a name', () => {
  const ours = ['localhost', 'LOCALHOST:8080', 'localhost.', '127.0.0.1:1', '10.1.2.3', '[::1]:8080', '[::1]']
  for (const name of [...ours, 'fairlead.example.org', 'Fairlead.Example.ORG:443']) {
    test(`${name} is heard`, async () => expect(await ask(`Host: ${name}`)).toMatch(/^HTTP\/1.1 200 /))
  }
  const others = ['evil.example', 'evil.example:8080', 'localhost.evil.example', 'a.fairlead.example.org', '']
  for (const name of [
    ...others,
    '127.0.0.1.evil.example',
    '[::1',
    '1',
    'localhost:8080:1',
    'localhost@evil',
  ]) {
    // invariant: Requests from foreign web pages are refused.
    test(`${name} is not: it may be a page's own`, async () => {
      const heard = await ask(`Host: ${name}`)
      expect(heard).toMatch(/^HTTP\/1.1 400 /)
      expect(heard).toMatch(/Host: |no HTTP request/)
    })
  }

  test('two Host headers are refused, in either order, and so is a path that names another host', async () => {
    expect(await ask('Host: localhost', 'Host: evil.example')).toMatch(/^HTTP\/1.1 400 /)
    expect(await ask('Host: localhost', 'host: localhost')).toMatch(/^HTTP\/1.1 400 /)
    const absolute = 'GET http://evil.example/v1/bootstrap HTTP/1.1\r\nHost: localhost\r\n'
    expect(await say(`${absolute}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 4\d\d /)
  })
})

test('every answer tells browsers not to run, frame or reinterpret it', async () => {
  const wanted = {
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'cross-origin-resource-policy': 'same-origin',
  }
  for (const [method, path, auth] of [
    ['GET', '/v1/users', admin],
    ['GET', '/v1/users', ''],
    ['GET', '/nowhere', ''],
    ['GET', '/openapi.json', ''],
    ['POST', '/v1/users/authorize', ''],
  ] as const) {
    const { headers } = await fairlead.send(method, path, { auth })
    expect(Object.fromEntries(headers)).toMatchObject(wanted)
    expect(headers.get('access-control-allow-origin')).toBeNull()
  }
  expect(await say('nonsense\r\n\r\n')).toMatch(/x-content-type-options: nosniff/)
})

describe('a user cannot be called', () => {
  const create = (fields: object) =>
    fairlead.send('POST', '/v1/users', { auth: admin, body: { password: 'a-password-of-mine', ...fields } })
  const odd: Readonly<Record<string, string>> = {
    'as the operator is': 'Operator',
    'as Fairlead is': 'fairlead',
    'as unknown users are in the log': '(unknown)',
    'with a Cyrillic letter among Latin ones': '\u0430dmin',
    'with Cyrillic letters that all look Latin': '\u0441\u043e\u0440\u0430',
    'with a sign of no width': 'admin\u200b',
    'with a change of direction': 'x\u202enimda',
    'with a soft hyphen': 'ad\u00admin',
    'with half a letter': 'a\ud800b',
    'with an unassigned code point': 'a\u0378',
    'with a private-use character': 'a\ue000',
  }
  for (const [what, name] of Object.entries(odd)) {
    test(what, async () => {
      expect(await create({ name })).toMatchObject({ status: 400, body: { error_code: 'invalid_request' } })
      if (/^[a-z]+$/i.test(name)) return // as a part of an e-mail it is another
      expect((await create({ name: 'plain', email: `${name}@example.org` })).status).toBe(400)
    })
  }

  test('ordinary names are still accepted: of any one script, with digits and signs', async () => {
    for (const name of [
      'Zoë',
      'мария',
      'Ελένη',
      '田中さん',
      '김철수',
      'o’neil-2',
      'ops+ci@example.org',
      '123',
    ]) {
      expect([name, (await create({ name })).status]).toEqual([name, 200])
    }
  })

  test('and a user with such a name from an older version keeps it, and may change everything else', async () => {
    const { body } = await create({ name: 'before' })
    await fairlead.tamper(`update users set name = 'operator' where uid = ${body['uid']}`)
    admin = await fairlead.signIn('admin', adminPassword)
    const change = { name: 'operator', email: 'ops@example.org' }
    const answer = await fairlead.send('PUT', `/v1/users/${body['uid']}`, { auth: admin, body: change })
    expect(answer.status).toBe(200)
  })
})

test('the log shows text that a stranger sends as a name as text, not as a name', async () => {
  const login = { username: 'operator\u202e', password: 'x' }
  await fairlead.send('POST', '/v1/users/authorize', { body: login })
  const { body } = await fairlead.send('GET', '/v1/logs?order=desc&limit=1', { auth: admin })
  expect(body).toMatchObject([
    { type: 'login_failed', originator: '(unknown)', details: { name: 'operator<U+202E>', why: 'unknown' } },
  ])
})
