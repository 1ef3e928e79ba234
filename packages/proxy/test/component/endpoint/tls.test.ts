import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { createClient, type EndpointSpec, proxyOperations } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { createAdmission } from '../../../src/listen/admission.ts'
import { createProxy } from '../../../src/program/proxy.ts'
import { socketTransport } from '../../run-proxy.ts'
import { dial, type Engine, freePort, makeEndpointSpec, newest, startEngine, until } from '../../stage.ts'
import { certificateOf, dialTls } from '../../tls-stage.ts'

let folder: string
let engine: Engine
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proxy-tls-'))
  engine = await startEngine(newest)
})
afterAll(async () => {
  await engine[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const makeCertificate = (name: string) => certificateOf(folder, name)

/** A proxy in this process with what it logged, and one endpoint that speaks TLS. */
async function serve(tls: NonNullable<EndpointSpec['tls']>, shards: EndpointSpec['shards'] = null) {
  await using stack = new AsyncDisposableStack()
  const home = await mkdtemp(join(folder, 'home-'))
  const logged: string[] = []
  const log = (what: string, details: object) => void logged.push(`${what} ${JSON.stringify(details)}`)
  const socketPath = join(home, 'proxy.sock')
  const sentinel = { host: '127.0.0.1', port: 0 }
  const onBroken = (why: string) => log(why, {})
  stack.use(await createProxy({ home, socketPath, sentinel, workers: 1, onBroken, log }))
  const client = createClient(proxyOperations, socketTransport(socketPath))
  const params = { id: 'db1' }
  const wanted = { ...makeEndpointSpec(await freePort(), engine.port), tls, shards }
  const put = (change: Partial<EndpointSpec>) =>
    client.putEndpoint({ params, body: { ...wanted, ...change } })
  await put({})
  const owned = stack.move()
  const remove = () => client.removeEndpoint({ params })
  return { home, logged, put, remove, port: wanted.port, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

// invariant: Another TLS certificate closes no connection.
test.each(['one group', 'slots'])(
  'another certificate is shown to new clients, and no open connection is closed: %s',
  async (kind) => {
    const [first, second] = [makeCertificate('first'), makeCertificate('second')]
    const upstream = { host: '127.0.0.1', port: engine.port }
    await using proxy = await serve(first, kind === 'slots' ? [{ first: 0, last: 16_383, upstream }] : null)
    await engine.admin('FLUSHALL')
    await using before = await dialTls(proxy.port, first.cert)
    expect(before.shown()).toBe('first')
    await before.ask('SET k v', '+OK\r\n')
    before.send('BLPOP queue 0\r\n')

    await proxy.put({ tls: second })
    await using after = await dialTls(proxy.port, second.cert)
    expect(after.shown()).toBe('second')
    await after.ask('RPUSH queue a', ':1\r\n')
    await before.gets('*2\r\n$5\r\nqueue\r\n$1\r\na\r\n')
    await before.ask('GET k', '$1\r\nv\r\n')
    await expect(dialTls(proxy.port, first.cert)).rejects.toThrow('self-signed certificate')
  },
)

test('a certificate that cannot be used is refused, and the former one stays in use', async () => {
  const [first, other] = [makeCertificate('kept'), makeCertificate('other')]
  await using proxy = await serve(first)
  const written = await readFile(join(proxy.home, 'endpoints.json'), 'utf8')
  const mixed = { cert: first.cert, key: other.key }
  for (const tls of [mixed, { ...first, cert: 'none' }])
    await expect(proxy.put({ tls })).rejects.toThrow('the certificate and its key cannot be used')
  expect(await readFile(join(proxy.home, 'endpoints.json'), 'utf8')).toBe(written)
  await using client = await dialTls(proxy.port, first.cert)
  await client.ask('PING', '+PONG\r\n')
})

test('the key is in a file that only its owner can read, and not in the log', async () => {
  const tls = makeCertificate('secret')
  await using proxy = await serve(tls)
  const other = makeCertificate('secret-too')
  await proxy.put({ tls: other })
  await expect(proxy.put({ tls: { cert: tls.cert, key: other.key } })).rejects.not.toThrow('PRIVATE KEY')
  const file = join(proxy.home, 'endpoints.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain(JSON.stringify(other.key))
  expect(proxy.logged.join('\n')).not.toMatch(/PRIVATE KEY/)
  for (const line of [...tls.key.split('\n'), ...other.key.split('\n')].filter((text) => text.length > 20))
    expect(proxy.logged.join('\n')).not.toContain(line)
})

test('TLS before 1.2 and plain connections are refused', async () => {
  const tls = makeCertificate('modern')
  await using proxy = await serve(tls)
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  await expect(dialTls(proxy.port, tls.cert, old)).rejects.toThrow()
  await using client = await dialTls(proxy.port, tls.cert, { maxVersion: 'TLSv1.2' })
  await client.ask('PING', '+PONG\r\n')
  await using plain = await dial(proxy.port)
  plain.send('PING\r\n')
  await until(() => plain.ended())
  expect(plain.text()).not.toContain('PONG')
})

test('a client that has not finished its handshake counts as a connection, and is closed', async () => {
  const tls = makeCertificate('full')
  const admission = createAdmission(2)
  await using endpoint = await openEndpoint(
    { ...makeEndpointSpec(await freePort(), engine.port), tls },
    { admission },
  )
  const { port } = endpoint.wanted
  await using first = await dialTls(port, tls.cert)
  await first.ask('PING', '+PONG\r\n')
  await using silent = await dial(port)
  await until(() => admission.open === 2)
  // It makes room for clients that speak TLS.
  await using second = await dialTls(port, tls.cert)
  await until(() => silent.ended())
  await second.ask('PING', '+PONG\r\n')
  await expect(dialTls(port, tls.cert)).rejects.toThrow()
  second.socket.destroy()
  await until(() => admission.open === 1)
  await using slow = await dial(port)
  await until(() => admission.open === 2)
  await until(
    () => slow.ended(),
    () => 'it is closed',
  )
  first.socket.destroy()
  await until(() => admission.open === 0)
})

test('an endpoint can be removed while a silent client is connected', async () => {
  await using proxy = await serve(makeCertificate('silent'))
  await using silent = await dial(proxy.port)
  await proxy.remove()
  await until(() => silent.ended())
})

test('TLS 1.2 with AEAD ciphers only, and TLS 1.3, are accepted', async () => {
  const tls = makeCertificate('ciphers')
  await using proxy = await serve(tls)
  const shake = (options: ConnectionOptions) =>
    new Promise<string>((resolve) => {
      const target = {
        host: '127.0.0.1',
        port: proxy.port,
        ca: tls.cert,
        checkServerIdentity: () => undefined,
      }
      const socket = connect({ ...target, ...options }, () => {
        resolve(`${socket.getProtocol()} ${socket.getCipher().name}`)
        socket.destroy()
      })
      socket.on('error', () => resolve('refused'))
    })
  const seclevel = '@SECLEVEL=0'
  for (const cipher of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA', 'ECDHE-ECDSA-AES128-SHA256']) {
    expect(await shake({ maxVersion: 'TLSv1.2', ciphers: `${cipher}:${seclevel}` })).toBe('refused')
  }
  expect(await shake({ maxVersion: 'TLSv1.2' })).toMatch(/^TLSv1.2 ECDHE-ECDSA-(AES\d+-GCM|CHACHA20)/)
  expect(await shake({})).toMatch(/^TLSv1.3 TLS_/)
  expect(await shake({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: `ALL:${seclevel}` })).toBe(
    'refused',
  )
})
