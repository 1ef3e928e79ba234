import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeApiCertificate, makeAuthority } from '../../../packages/server/src/tls/make-certificate.ts'
import {
  adminPassword,
  startControlPlane,
  type TestControlPlane,
} from '../../../packages/server/test/control-plane.ts'
import { type Http2Client, http2Client } from '../../../packages/server/test/http2-client.ts'
import { dial, httpsClient } from '../../../packages/server/test/https-client.ts'
import { claimPorts } from '../../../proof/claim-ports.ts'

const opened = new AsyncDisposableStack()
let fairlead: TestControlPlane
let port: number
let ca: string
let admin: string
beforeAll(async () => {
  port = opened.use(await claimPorts()).from
  fairlead = opened.use(await startControlPlane({ httpsPort: port, mostConnections: 40 }))
  ca = readFileSync(join(fairlead.home, 'ca.pem'), 'utf8')
  admin = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => opened.disposeAsync())

/* Frames by hand: no client of HTTP/2 does what these do. */
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION] = [
  0, 1, 3, 4, 6, 8, 9,
] as const
/** GET https://localhost/ in the header table's words. */
const question = Buffer.concat([Buffer.from([0x82, 0x84, 0x87, 0x01, 9]), Buffer.from('localhost')])
/** POST https://localhost/v1/users/authorize, and that JSON follows. */
const login = Buffer.concat([
  ...[Buffer.from([0x83, 0x87, 0x04, 19]), Buffer.from('/v1/users/authorize')],
  ...[Buffer.from([0x01, 9]), Buffer.from('localhost')],
  ...[Buffer.from([0x0f, 0x10, 16]), Buffer.from('application/json')],
])
function frame(type: number, flags: number, id: number, payload: Uint8Array | readonly number[]): Uint8Array {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, Uint8Array.from(payload)])
}

const open = (options = {}): Promise<Http2Client> => http2Client(port, { ca, ...options })

describe('HTTP/2', () => {
  test.each([
    [['h2', 'http/1.1'], 'h2'],
    [['http/1.1', 'h2'], 'h2'],
    [['h2'], 'h2'],
    [['http/1.1'], 'http/1.1'],
    [undefined, false],
  ] as const)('a client that offers %j speaks %j', async (offered, chosen) => {
    const socket = await dial(port, { ca, ...(offered && { ALPNProtocols: [...offered] }) })
    expect(socket.alpnProtocol).toBe(chosen)
    socket.destroy()
  })

  test('has the same answers as HTTP/1.1: bodies, headers, refusals, ids, HEAD and 405', async () => {
    using two = await open()
    using one = httpsClient(port, ca)
    const body = { username: 'admin', password: adminPassword }
    const { access_token: token } = (await two.send('POST', '/v1/users/authorize', { body })).body
    const auth = `Bearer ${token}`
    const headersOf = (headers: Headers) =>
      Object.fromEntries(
        [...headers].filter(([name]) => !['date', 'connection', 'keep-alive', 'x-request-id'].includes(name)),
      )
    for (const [method, path] of [
      ['GET', '/v1/users'],
      ['GET', '/v1/bdbs?fields=uid,name'],
      ['GET', '/v1/cluster'],
      ['GET', '/v1/bootstrap'],
      ['GET', '//v1//roles/'],
      ['GET', '/v1/bdbs/7'],
      ['GET', '/v1/nothing'],
      ['PATCH', '/v1/bdbs'],
      ['DELETE', '/v1/users/authorize'],
      ['GET', '/openapi.json'],
    ] as const) {
      const [a, b] = [await two.send(method, path, { auth }), await one.send(method, path, { auth })]
      expect([path, a.status, a.body, headersOf(a.headers)]).toEqual([
        path,
        b.status,
        b.body,
        headersOf(b.headers),
      ])
    }
    expect((await two.send('GET', '/v1/users')).status).toBe(401)
    const head = await two.send('HEAD', '/v1/users', { auth })
    expect([head.status, head.text, Number(head.headers.get('content-length')) > 10]).toEqual([200, '', true])
    const named = await two.send('GET', '/v1/users', { auth, headers: { 'x-request-id': 'mine-2' } })
    expect(named.headers.get('x-request-id')).toBe('mine-2')
  })

  test('answers many requests at once on one connection, and knows the source of each', async () => {
    using two = await open()
    const answers = await Promise.all(
      Array.from({ length: 90 }, (_, n) =>
        two.send('GET', n % 2 === 0 ? '/v1/users' : '/v1/cluster', { auth: admin }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const login = { username: 'admin', password: 'wrong' }
    expect((await two.send('POST', '/v1/users/authorize', { body: login })).status).toBe(401)
    const { body: logs } = await fairlead.send('GET', '/v1/logs?order=desc&limit=1', { auth: admin })
    expect(logs).toMatchObject([{ type: 'login_failed', details: { from: expect.stringMatching(/^local/) } }])
  })

  test('takes bodies up to the same limit', async () => {
    using two = await open()
    const ask = (length: number) =>
      two.send('POST', '/v1/users/authorize', { body: { username: 'x'.repeat(length), password: 'x' } })
    expect((await ask(1_000)).status).toBe(400)
    expect([(await ask(300_000)).status, (await two.send('GET', '/v1/bootstrap')).status]).toEqual([400, 200])
  })

  test('is not there for the name of a page, in either of the places that a name has', async () => {
    using two = await open()
    const ask = async (headers: Record<string, string>) =>
      (await two.send('GET', '/v1/bootstrap', { headers })).status
    expect(await ask({ ':authority': 'evil.example' })).toBe(400)
    expect(await ask({ ':authority': 'localhost', host: 'evil.example' })).toBe(400)
    expect(await ask({ ':authority': 'evil.example', host: 'localhost' })).toBe(400)
    expect(await ask({ ':authority': `localhost:${port}`, host: `localhost:${port}` })).toBe(200)
    expect(await ask({ ':authority': '127.0.0.1' })).toBe(200)
  })

  test('another certificate is shown to new connections, and the present ones stay', async () => {
    using two = await open()
    expect((await two.send('GET', '/v1/bootstrap')).status).toBe(200)
    const authority = await makeAuthority(Date.now())
    const { cert, key } = await makeApiCertificate(authority, ['localhost', '127.0.0.1'], Date.now())
    const own = { name: 'api', certificate: cert, key }
    expect((await two.send('PUT', '/v1/cluster/update_cert', { auth: admin, body: own })).status).toBe(200)
    await expect(dial(port, { ca })).rejects.toThrow('unable to verify')
    ;(await dial(port, { ca: authority.cert })).destroy()
    expect((await two.send('DELETE', '/v1/cluster/certificates/api', { auth: admin })).status).toBe(200)
    ;(await dial(port, { ca })).destroy()
  })
})

describe('a hostile client of HTTP/2', () => {
  const stillServed = async () => {
    using other = await open()
    expect((await other.send('GET', '/v1/bootstrap')).status).toBe(200)
  }

  /** What it sends repeatedly; `id` is the next odd number. */
  const nuisances: Readonly<Record<string, (id: number) => Uint8Array>> = {
    'asks and takes back (rapid reset)': (id) =>
      Buffer.concat([frame(HEADERS, 5, id, question), frame(RST_STREAM, 0, id, [0, 0, 0, 8])]),
    'makes the server take back what was asked': (id) =>
      Buffer.concat([frame(HEADERS, 4, id, question), frame(WINDOW_UPDATE, 0, id, [0, 0, 0, 0])]),
    'sends pings': () => frame(PING, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]),
    'sends settings': () => frame(SETTINGS, 0, 0, []),
    'names more and more headers': (id) =>
      id === 1 ? frame(HEADERS, 1, 1, question) : frame(CONTINUATION, 0, 1, Buffer.alloc(10, 0x82)),
    'opens more than it may': (id) => frame(HEADERS, 4, id, question),
  }
  test.each(Object.entries(nuisances))('that %s without a pause is disconnected', async (_, make) => {
    const socket = await dial(port, { ca, ALPNProtocols: ['h2'] })
    socket.on('error', () => undefined).resume()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, [])]))
    for (let n = 0; n < 20_000 && socket.writable; n += 1) {
      const isTaken = socket.write(make(2 * n + 1))
      if (!isTaken || n % 20 === 19) await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    await stillServed()
  })

  test('that sends large headers, or very many, has its request refused', async () => {
    using two = await open()
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`x-${n}`, 'y']))
    // It knows the limit from now on.
    expect((await two.send('GET', '/v1/bootstrap')).status).toBe(200)
    for (const headers of [{ 'x-large': 'y'.repeat(30_000) }, many])
      await expect(two.send('GET', '/v1/bootstrap', { headers })).rejects.toThrow()
    await stillServed()
  })

  test('that opens connections and asks nothing makes room for those that ask', async () => {
    const idle = await Promise.all(Array.from({ length: 60 }, () => open().catch(() => undefined)))
    for (let n = 0; n < 5; n += 1) await stillServed()
    for (const one of idle) one?.[Symbol.dispose]()
  })
})

test('a server that stops answers what has been asked, and ends each connection of HTTP/2', async () => {
  using two = await open()
  expect((await two.send('GET', '/v1/bootstrap')).status).toBe(200)
  using silent = await open()
  // The password is being checked while the server stops.
  const stream = two.session.request({
    ...{ ':method': 'POST', ':path': '/v1/users/authorize', 'content-type': 'application/json' },
  })
  const answered = once(stream, 'response')
  stream.resume().end(JSON.stringify({ username: 'admin', password: adminPassword }))
  // Its answer comes after what was sent before.
  await new Promise((resolve) => two.session.ping(resolve))
  await fairlead.restart()
  expect((await answered)[0][':status']).toBe(200)
  expect([await two.ended, await silent.ended]).toEqual([0, 0])
  await (async () => {
    using again = await open()
    expect((await again.send('GET', '/v1/bootstrap')).status).toBe(200)
  })()
})

test('a server that stops does not wait for a client of HTTP/2 that has sent half of a request and says no more', {
  timeout: 60_000,
}, async () => {
  const half = async () => {
    const socket = await dial(port, { ca, ALPNProtocols: ['h2'] })
    socket.on('error', () => undefined).resume()
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    socket.write(frame(SETTINGS, 0, 0, []))
    socket.write(frame(HEADERS, 0x04, 1, login))
    return socket
  }
  const [slow, silent] = [await half(), await half()]
  // It goes on, and has the ten seconds that each client has.
  const dripping = setInterval(() => slow.write(frame(DATA, 0, 1, Buffer.from(' '))), 200)
  const closed = (socket: TLSSocket) =>
    new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now())))
  const ends = Promise.all([closed(silent), closed(slow)])
  try {
    await fairlead.restart()
    const [silentAt, slowAt] = await ends
    expect(slowAt - silentAt).toBeGreaterThan(3_000)
  } finally {
    clearInterval(dripping)
    for (const socket of [silent, slow]) socket.destroy()
  }
})

test('slow clients of plain HTTP and of HTTP/2 have the same ten seconds when a server stops, not one after the other', {
  timeout: 60_000,
}, async () => {
  using two = await open()
  const path = '/v1/users/authorize'
  const stream = two.session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json' })
  stream.on('error', () => undefined)
  stream.write(' ')
  const one = connect(Number(new URL(fairlead.url).port), '127.0.0.1')
  one.on('error', () => undefined)
  one.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n `,
  )
  await new Promise((resolve) => two.session.ping(resolve))
  const drip = setInterval(() => {
    stream.write(' ')
    one.write(' ')
  }, 200)
  const closed = async (end: Promise<unknown>) => end.then(() => performance.now())
  const ends = Promise.all([closed(once(one, 'close')), closed(two.ended)])
  try {
    await fairlead.restart()
    const [oneAt, twoAt] = await ends
    expect(Math.abs(twoAt - oneAt)).toBeLessThan(5_000)
  } finally {
    clearInterval(drip)
    one.destroy()
  }
})
