import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { followAction, listUsers } from '@fairlead/api'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { createHttp } from '../../../../src/http/create-http.ts'
import { listenHttps } from '../../../../src/http/https/listen-https.ts'
import { mountOn } from '../../../../src/http/mount.ts'
import { makeApiCertificate, makeAuthority } from '../../../../src/tls/make-certificate.ts'
import { http2Client } from '../../../http2-client.ts'

type Limits = Pick<Parameters<typeof listenHttps>[0], 'http2Limits'>

const opened: AsyncDisposableStack[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.disposeAsync()
})

/** A server over HTTPS with one stream, which ends when its client has gone, and one large answer. */
async function serve(limits: Limits = {}) {
  const stack = new AsyncDisposableStack()
  opened.push(stack)
  const user = { uid: 1, name: 'admin', grants: [{ management: 'admin', databases: null }] } as const
  const http = createHttp({
    identify: (_, { address }) => ({ user, address, token: null }),
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
    mostConnections: 40,
  })
  const count = { taken: 0, running: 0, ended: 0 }
  http.addHook('onResponse', async () => {
    count.ended += 1
  })
  const mount = mountOn(http)
  mount(followAction, async () => ({
    admits: () => true,
    async *events(_, signal) {
      count.running += 1
      try {
        for (;;) {
          count.taken += 1
          yield { seq: count.taken, type: 'action', time: '', waiting_for: 'x'.repeat(10_000) }
          if (count.taken === 3 || count.taken % 100 === 0)
            await new Promise((resolve) => setImmediate(resolve))
          if (signal.aborted) return
        }
      } finally {
        count.running -= 1
      }
    },
  }))
  mount(listUsers, async () => ({
    entries: Array.from({ length: 5_000 }, (_, uid) => ({ uid, name: 'x'.repeat(100), email: '' }) as never),
    next: undefined,
  }))
  await http.ready()
  const authority = await makeAuthority(Date.now())
  const pair = await makeApiCertificate(authority, ['localhost', '127.0.0.1'], Date.now())
  const { bounds, log } = http
  if (bounds === undefined) throw new Error('no bounds')
  const listener = await listenHttps({
    http,
    bounds,
    place: { host: '127.0.0.1', port: 0 },
    pair,
    log,
    ...limits,
  })
  stack.use(listener)
  stack.defer(() => http.close())
  const stop = async () => {
    listener.stop()
    await http.close()
  }
  return { port: listener.port, ca: authority.cert, count, stop }
}

test('events are followed over HTTP/2; a client that reads nothing is not read ahead for, and one that goes ends it', async () => {
  const { port, ca, count } = await serve()
  using two = await http2Client(port, { ca })
  const stream = two.session.request({ ':path': '/v1/actions/a/events' })
  stream.on('error', () => undefined)
  const [head] = await once(stream, 'response')
  expect([head[':status'], head['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
  stream.setEncoding('utf8')
  const [first] = await once(stream, 'data')
  expect(first).toMatch(/^id: 1\nevent: action\ndata: \{"seq":1/)
  stream.pause()
  // What a window holds; other requests of the connection are answered meanwhile.
  await until('the source rests', async () => {
    const before = count.taken
    await two.send('GET', '/v1/nothing')
    return before === count.taken
  })
  expect(count.taken).toBeLessThan(500)
  stream.close(constants.NGHTTP2_CANCEL)
  await until('nothing runs', () => count.running === 0)
})

test('a server that stops ends streams of events over HTTP/2, and then the connection', async () => {
  const { port, ca, stop } = await serve()
  using two = await http2Client(port, { ca })
  const stream = two.session.request({ ':path': '/v1/actions/a/events' })
  stream.on('error', () => undefined)
  await once(stream, 'response')
  await stop()
  expect(await two.ended).toBe(constants.NGHTTP2_NO_ERROR)
})

test('headers of more than 16 KB are refused, also before the client has confirmed that limit', async () => {
  const { port, ca } = await serve()
  for (const [kilobytes, status] of [
    [17, 400],
    [60, 400],
    [15, 404],
  ] as const) {
    // At once: the server's own limit holds only when the client has confirmed it.
    const session = connect(`https://localhost:${port}`, { host: '127.0.0.1', ca })
    const stream = session.request({ ':path': '/v1/nothing', 'x-long': 'x'.repeat(kilobytes * 1_000) })
    const [head] = await once(stream, 'response')
    let text = ''
    for await (const chunk of stream.setEncoding('utf8')) text += chunk
    expect([kilobytes, head[':status']]).toEqual([kilobytes, status])
    if (status === 400)
      expect(JSON.parse(text)).toMatchObject({ message: 'the headers of the request are too large' })
    session.destroy()
  }
})

test('a request that is not sent to its end is ended, and the connection stays', async () => {
  const { port, ca } = await serve({ http2Limits: { requestMs: 100, lookEveryMs: 50 } })
  using two = await http2Client(port, { ca })
  const stream = two.session.request({
    ...{ ':method': 'POST', ':path': '/v1/nothing', 'content-type': 'application/json' },
  })
  stream.on('error', () => undefined)
  stream.write('{')
  await once(stream, 'close')
  expect((await two.send('GET', '/v1/nothing')).status).toBe(404)
})

test('an answer of which a client takes nothing is ended', async () => {
  const { port, ca, count } = await serve({ http2Limits: { readMs: 100, lookEveryMs: 50 } })
  using two = await http2Client(port, { ca })
  const stream = two.session.request({ ':path': '/v1/users' })
  stream.on('error', () => undefined)
  await once(stream, 'response')
  await until('it is ended', () => count.ended === 1)
})

test('a connection of HTTP/2 that asks nothing is closed', async () => {
  const { port, ca } = await serve({ http2Limits: { firstMs: 100, lookEveryMs: 50 } })
  using two = await http2Client(port, { ca })
  await two.ended
})
