import { connect } from 'node:net'
import { ErrorObstacle, type Operation, operations } from '@fairlead/api'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../control-plane.ts'

let fairlead: TestControlPlane
let token: string
beforeAll(async () => {
  fairlead = await startControlPlane()
  token = await fairlead.signIn('admin', adminPassword, 86_400)
  // This test is not about hundreds of wrong passwords.
  await fairlead.send('PUT', '/v1/cluster/policy', { auth: token, body: { login_lockout_threshold: 0 } })
})
afterAll(() => fairlead[Symbol.asyncDispose]())

/** A stream that is there has no end. */
const all = Object.values(operations).filter(
  ({ stream, path }: Operation) => stream !== true || path.includes(':'),
) as readonly Operation[]
/** There is no agent here: operations that need one answer so. */
const needsAgent = [
  ...['/readyz', '/v1/engine_versions', '/v1/engine_versions/fetches', '/v1/bdbs'],
  ...['/v1/backups', '/v1/backups/:name'],
]
const runs = { numRuns: 300 }

/** What must hold of every answer, whatever was sent. */
function expectSound(path: string, status: number, text: string): void {
  if (status === 503 && needsAgent.includes(path)) return
  expect(status, text).toBeLessThan(500)
  if (status !== 200) {
    const { obstacles, ...rest } = JSON.parse(text) as { readonly obstacles?: readonly unknown[] }
    expect(rest, text).toEqual({ error_code: expect.any(String), message: expect.any(String) })
    expect((obstacles?.length ?? 0) > 0, text).toBe([400, 406, 409].includes(status))
    expect(obstacles?.every((one) => Value.Check(ErrorObstacle, one)) ?? true, text).toBe(true)
  }
  for (const leak of [
    '$argon2',
    adminPassword,
    token.slice(-30),
    'node_modules',
    '.ts:',
    '    at ',
    'SQLITE',
    'select ',
  ]) {
    expect(text).not.toContain(leak)
  }
}

async function sendRaw(
  { method, path }: Operation,
  body: string | undefined,
  headers: Record<string, string>,
) {
  const url = new URL(path.replace(/:\w+/g, '3'), fairlead.url)
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && method !== 'GET' && { body }),
  })
  expectSound(path, response.status, await response.text())
}

/** A body that has some of the operation's fields, with any values. */
function nearlyValid({ body }: Operation): fc.Arbitrary<unknown> {
  const fields = Object.keys((body as { properties?: object } | undefined)?.properties ?? {})
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(
      '',
      ' ',
      '\u0000',
      'a\u202eb',
      '💥',
      'x'.repeat(300),
      '__proto__',
      "' or 1=1 --",
      '../../etc',
    ),
    fc.constantFrom(0, -1, 1e308, 0.1, 2 ** 53, null, true, [], {}),
  )
  return fc.dictionary(fc.oneof(fc.constantFrom(...fields, 'extra'), fc.string()), odd)
}

// Operations that end the session, or all sessions, would end the test: their bodies are fuzzed without a
// token.
const ending = [
  '/v1/users/logout',
  '/v1/users/password',
  '/v1/users/:uid',
  '/v1/cluster',
  '/v1/cluster/policy',
]

describe('no body crashes the server, or makes it disclose its secrets', () => {
  test('of any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...all), fc.string({ maxLength: 500 }), (operation, body) =>
        sendRaw(operation, body, {
          'content-type': 'application/json',
          ...(ending.includes(operation.path) ? {} : { authorization: token }),
        }),
      ),
      runs,
    )
  })

  test('of nearly the right shape', async () => {
    const withBody = all.filter(({ body, path }) => body !== undefined && !ending.includes(path))
    const either = fc
      .constantFrom(...withBody)
      .chain((operation) => nearlyValid(operation).map((body) => ({ operation, body })))
    await fc.assert(
      fc.asyncProperty(either, ({ operation, body }) =>
        sendRaw(operation, JSON.stringify(body), {
          'content-type': 'application/json',
          authorization: token,
        }),
      ),
      runs,
    )
  })
})

test('no header does', async () => {
  const printable = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((n) => n !== 0x7f)
      .map((n) => String.fromCharCode(n)),
    maxLength: 300,
  })
  const authorization = fc.oneof(
    printable,
    fc
      .tuple(fc.constantFrom('Bearer', 'JWT', 'Basic', 'Digest', ''), printable)
      .map((parts) => parts.join(' ')),
    fc.string({ maxLength: 100 }).map((text) => `Basic ${Buffer.from(text).toString('base64')}`),
    fc.tuple(fc.nat(2_000), fc.nat(255)).map(([at, change]) => {
      const index = 8 + (at % (token.length - 8))
      return token.slice(0, index) + String.fromCharCode(33 + (change % 90)) + token.slice(index + 1)
    }),
    fc.tuple(printable, printable).map(([name, password]) => basic(name, password)),
  )
  const contentType = fc.oneof(
    printable,
    fc.constantFrom('application/json', 'application/json; charset=x', 'text/plain', ''),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...all), authorization, contentType, async (operation, auth, type) => {
      const sent = auth.trim() === token ? '' : auth
      await sendRaw(operation, '{}', {
        authorization: sent.trim(),
        ...(type.trim() !== '' && { 'content-type': type.trim() }),
      })
    }),
    { numRuns: 150 },
  )
})

test('no path does', async () => {
  const odd = fc.oneof(
    fc.webPath(),
    fc.string({ maxLength: 100 }).map((text) => `/v1/${encodeURIComponent(text)}`),
    fc.constantFrom(
      '/v1/bdbs/%zz',
      '/v1/bdbs/%00',
      '/v1/users/1e400',
      '/v1/bdbs/NaN',
      `/v1/bdbs/${'9'.repeat(200)}`,
      '//',
      '/%2e%2e/x',
    ),
  )
  await fc.assert(
    fc.asyncProperty(odd, async (path) => {
      const response = await fetch(fairlead.url + path, { headers: { authorization: token } })
      expectSound(path, response.status, await response.text())
    }),
    runs,
  )
})

test('bytes that are not HTTP get an answer of the same form as every other fault', async () => {
  const say = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ port: Number(new URL(fairlead.url).port), host: '127.0.0.1' })
      let heard = ''
      socket.on('data', (chunk) => {
        heard += chunk.toString()
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(heard))
      socket.end(text)
    })
  for (const text of [
    'nonsense\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nX: \u0001\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
    'POST /v1/users/authorize HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
    'POST /v1/users/authorize HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ]) {
    const [head = '', body = ''] = (await say(text)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(JSON.parse(body)).toEqual({ error_code: 'invalid_request', message: expect.any(String) })
  }
})
