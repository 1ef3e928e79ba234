import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, test } from 'vitest'
import { longHello } from '../../../../../proof/floods/long-hello.ts'
import { untilClosed } from '../../../../../proof/until.ts'
import { runProxy } from '../../run-proxy.ts'
import { freePort, makeEndpointSpec, newest, startEngine, until } from '../../stage.ts'
import { certificateOf, dialTls, readHello } from '../../tls-stage.ts'

/** An endpoint with TLS, and what clients trust. */
async function openEndpoint(stack: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), 'proxy-handshakes-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const engine = stack.use(await startEngine(newest))
  const proxy = stack.use(await runProxy())
  const tls = certificateOf(folder, 'own')
  const port = await freePort()
  await proxy.client.putEndpoint({
    params: { id: 'db1' },
    body: { ...makeEndpointSpec(port, engine.port), tls },
  })
  return { port, tls }
}

test('a client that sends more than a first message before its turn is closed, and nothing of it is kept', async () => {
  await using stack = new AsyncDisposableStack()
  const { port, tls } = await openEndpoint(stack)
  const hello = await readHello()
  const places = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  stack.defer(() => places.forEach((socket) => void socket.destroy()))
  for (const socket of places) socket.write(hello.subarray(0, 10))
  await Promise.all(places.map((socket) => once(socket, 'connect')))
  // Its turn comes in seconds: it is neither the newest nor the oldest.
  const talker = places[50]
  let isClosed = false
  talker?.on('close', () => (isClosed = true)).resume()
  talker?.write(Buffer.alloc(64 * 1024))
  await until(() => isClosed)
  // A machine that stalls lets some of them be late.
  expect(places.filter((socket) => socket.closed).length).toBeLessThan(places.length / 2)
  const client = await dialTls(port, tls.cert)
  await client.ask('PING', '+PONG\r\n')
  client.socket.destroy()
})

test('a first message that is longer than that of any client is never read by TLS, also if it comes in parts', async () => {
  await using stack = new AsyncDisposableStack()
  const { port, tls } = await openEndpoint(stack)
  const socket = connect(port, '127.0.0.1')
  let answer = 0
  socket.on('data', ({ length }) => (answer += length))
  const whole = longHello()
  const closed = untilClosed(socket)
  socket.write(whole.subarray(0, 4))
  await new Promise((resolve) => setImmediate(resolve))
  socket.write(whole.subarray(4))
  await closed
  // TLS would say why in an alert.
  expect(answer).toBe(0)
  const client = await dialTls(port, tls.cert)
  await client.ask('PING', '+PONG\r\n')
  client.socket.destroy()
})

test('a client with TLS 1.2 that asks for another handshake gets none, and others are served', async () => {
  await using stack = new AsyncDisposableStack()
  const { port, tls } = await openEndpoint(stack)
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    ca: tls.cert,
    maxVersion: 'TLSv1.2',
    checkServerIdentity: () => undefined,
  })
  stack.defer(() => void socket.destroy())
  await once(socket, 'secureConnect')
  const refused = new Promise<Error | null>((resolve) => {
    socket.on('error', resolve)
    socket.renegotiate({ rejectUnauthorized: false }, resolve)
  })
  expect(String(await refused)).toMatch(/renegotiation/)
  const client = await dialTls(port, tls.cert)
  await client.ask('PING', '+PONG\r\n')
  client.socket.destroy()
})

test('a client does not wait for hundreds that began a handshake before it and do not end it', async () => {
  await using stack = new AsyncDisposableStack()
  const { port, tls } = await openEndpoint(stack)
  const hello = await readHello()
  const answered = new Set<Socket>()
  const flood = Array.from({ length: 300 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  stack.defer(() => flood.forEach((socket) => void socket.destroy()))
  for (const socket of flood) socket.on('data', () => answered.add(socket))
  await Promise.all(flood.map((socket) => once(socket, 'connect')))
  for (const socket of flood) socket.write(hello)
  await until(() => answered.size > 0)
  const client = await dialTls(port, tls.cert)
  await client.ask('PING', '+PONG\r\n')
  expect(flood.filter((socket) => socket.closed)).toEqual([])
  client.socket.destroy()
})
