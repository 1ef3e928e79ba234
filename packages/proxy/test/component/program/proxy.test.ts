import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, test } from 'vitest'
import { runProxy } from '../../run-proxy.ts'
import { makeShardedSpec } from '../../sharded-stage.ts'
import { dial, freePort, makeEndpointSpec, newest, rawClient, startEngine, until } from '../../stage.ts'

test('a proxy that is asked for no more than one endpoint reports one, and without a number all', async () => {
  await using proxy = await runProxy()
  await using engine = await startEngine(newest)
  for (const id of ['bdb-2', 'bdb-1'])
    await proxy.client.putEndpoint({ params: { id }, body: makeEndpointSpec(await freePort(), engine.port) })
  const ids = async (query: { readonly most?: number }) =>
    (await proxy.client.reportProxy({ query })).endpoints.map(({ id }) => id)
  expect(await ids({})).toEqual(['bdb-1', 'bdb-2'])
  expect(await ids({ most: 1 })).toEqual(['bdb-1'])
  expect(await ids({ most: 0 })).toEqual([])
})

test('wanted endpoints are served again after kill -9, at the upstream that they were switched to', async () => {
  await using proxy = await runProxy()
  await using old = await startEngine(newest)
  await using engine = await startEngine(newest)
  const params = { id: 'bdb-1' }
  const wanted = makeEndpointSpec(await freePort(), old.port)
  const put = await proxy.client.putEndpoint({ params, body: wanted })
  expect(put).toMatchObject({ id: 'bdb-1', state: 'serving', connections: 0, repoints: 0 })
  await using client = await dial(wanted.port)
  await client.ask('PING', '+PONG\r\n')

  expect(await proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000 } })).toMatchObject({
    drained: true,
  })
  expect(await proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000 } })).toMatchObject({
    drained: true,
  })
  expect((await proxy.client.reportProxy({})).endpoints).toMatchObject([{ state: 'held' }])
  client.send('SET k v\r\n')
  const upstream = { host: '127.0.0.1', port: engine.port }
  expect(await proxy.client.switchEndpoint({ params, body: { upstream } })).toMatchObject({
    moved: 1,
    closed: 0,
  })
  await client.gets('+OK\r\n')
  expect(await engine.admin('GET k')).toBe('$1\r\nv\r\n')

  // Nothing waits for the disk while roles move; the server sends the endpoint afterwards.
  await proxy.client.putEndpoint({ params, body: { ...wanted, upstream } })
  proxy.process().kill('SIGKILL')
  await until(() => client.ended())
  await proxy.start()
  await using again = await dial(wanted.port)
  await again.ask('GET k', '$1\r\nv\r\n')
  await proxy.client.removeEndpoint({ params })
  await until(() => again.ended())
  expect((await proxy.client.reportProxy({})).endpoints).toEqual([])
})

test.each([1, 2])(
  'the groups of a sharded database are held, switched and remembered one by one, by %i thread(s)',
  async (workers) => {
    await using proxy = await runProxy({ workers })
    await using a = await startEngine(newest)
    await using b = await startEngine(newest)
    await using c = await startEngine(newest)
    const params = { id: 'bdb-2' }
    const at = ({ port }: typeof a) => ({ host: '127.0.0.1', port })
    const wanted = await makeShardedSpec([
      { first: 0, last: 8_191, upstream: at(a) },
      { first: 8_192, last: 16_383, upstream: at(b) },
    ])
    expect(await proxy.client.putEndpoint({ params, body: wanted })).toMatchObject({ shards: wanted.shards })
    await using client = await dial(wanted.port)
    client.send('SET {b}k 1\r\nSET {a}k 2\r\n')
    await client.gets('+OK\r\n+OK\r\n')
    expect(await a.admin('GET {b}k')).toContain('1')
    expect(await b.admin('GET {a}k')).toContain('2')

    await expect(proxy.client.switchEndpoint({ params, body: { upstream: at(c) } })).rejects.toThrow(
      'name a slot',
    )
    await proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000, slot: 16_000 } })
    client.send('SET {a}k 3\r\n')
    await proxy.client.switchEndpoint({ params, body: { upstream: at(c), slot: 8_192 } })
    await client.gets('+OK\r\n')
    expect(await c.admin('GET {a}k')).toContain('3')
    const moved = [
      { first: 0, last: 8_191, upstream: at(a) },
      { first: 8_192, last: 16_383, upstream: at(c) },
    ]
    await proxy.client.putEndpoint({ params, body: { ...wanted, shards: moved } })
    proxy.process().kill('SIGKILL')
    await proxy.start()
    await using again = await dial(wanted.port)
    await again.ask('GET {a}k', '$1\r\n3\r\n')
    const back = {
      ...wanted,
      upstream: at(b),
      shards: [
        { first: 0, last: 8_191, upstream: at(b) },
        { first: 8_192, last: 16_383, upstream: at(c) },
      ],
    }
    await proxy.client.putEndpoint({ params, body: back })
    await again.ask('GET {b}k', '$-1\r\n')
    const torn = { ...wanted, shards: [{ first: 1, last: 16_383, upstream: at(a) }] }
    await expect(proxy.client.putEndpoint({ params, body: torn })).rejects.toThrow(
      'each slot from 0 to 16383 once',
    )
  },
)

test('if the proxy is killed during a hold, its clients connect again and go on', async () => {
  await using proxy = await runProxy()
  await using engine = await startEngine(newest)
  const params = { id: 'bdb-1' }
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  await proxy.client.putEndpoint({ params, body: wanted })
  await using client = await dial(wanted.port)
  await client.ask('SET k 1', '+OK\r\n')
  await proxy.client.holdEndpoint({ params, body: { deadlineMs: 60_000 } })
  client.send('SET k 2\r\n')
  proxy.process().kill('SIGKILL')
  await until(() => client.ended())
  await proxy.start()
  await using again = await dial(wanted.port)
  await again.ask('GET k', '$1\r\n1\r\n')
})

test('another upstream in the spec moves the connections; a taken port is reported, and tried again', async () => {
  await using proxy = await runProxy()
  await using old = await startEngine(newest)
  await using engine = await startEngine(newest)
  const params = { id: 'bdb-1' }
  const wanted = makeEndpointSpec(await freePort(), old.port)
  const squatter = createServer().listen(wanted.port, '127.0.0.1')
  await once(squatter, 'listening')
  await expect(proxy.client.putEndpoint({ params, body: wanted })).rejects.toThrow('EADDRINUSE')
  squatter.close()
  await until(async () => (await proxy.client.reportProxy({})).endpoints[0]?.state === 'serving')
  await using client = await dial(wanted.port)
  await client.ask('PING', '+PONG\r\n')
  const upstream = { host: '127.0.0.1', port: engine.port }
  expect(await proxy.client.putEndpoint({ params, body: { ...wanted, upstream } })).toMatchObject({
    repoints: 1,
  })
  await client.ask('SET k v', '+OK\r\n')
  expect(await engine.admin('GET k')).toBe('$1\r\nv\r\n')
})

test('a home has one proxy, only its owner can reach it, and an invalid order gets an error text', async () => {
  await using proxy = await runProxy()
  expect((await stat(proxy.home)).mode & 0o777).toBe(0o700)
  expect((await stat(join(proxy.home, 'proxy.sock'))).mode & 0o077).toBe(0)
  const main = new URL('../../../src/main.ts', import.meta.url).pathname
  const second = () =>
    execFileSync(process.execPath, ['--conditions=@fairlead/source', main, '--home', proxy.home], {
      stdio: 'pipe',
    })
  expect(second).toThrow('another proxy runs')
  const params = { id: 'none' }
  await expect(proxy.client.releaseEndpoint({ params, body: {} })).rejects.toThrow(
    'there is no endpoint none',
  )
  const body = { ...makeEndpointSpec(1, 1), port: 0 }
  await expect(proxy.client.putEndpoint({ params, body })).rejects.toThrow('/port must be >= 1')
})

test('clients and shards may speak TLS', async () => {
  await using proxy = await runProxy()
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(proxy.home, name))
  const names = ['-subj', '/CN=test', '-keyout', key ?? '', '-out', cert ?? '']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names], {
    stdio: 'ignore',
  })
  const pem = { key: readFileSync(key ?? '', 'utf8'), cert: readFileSync(cert ?? '', 'utf8') }
  const tlsPort = await freePort()
  const files = ['--tls-cert-file', cert ?? '', '--tls-key-file', key ?? '', '--tls-ca-cert-file', cert ?? '']
  const options = ['--tls-port', String(tlsPort), ...files, '--tls-auth-clients', 'no']
  await using engine = await startEngine(newest, ...options)
  const wanted = { ...makeEndpointSpec(await freePort(), tlsPort), tls: pem, upstreamTls: { ca: pem.cert } }
  await proxy.client.putEndpoint({ params: { id: 'tls' }, body: wanted })
  const socket = connectTls({
    host: '127.0.0.1',
    port: wanted.port,
    ca: pem.cert,
    checkServerIdentity: () => undefined,
  })
  await once(socket, 'secureConnect')
  await using client = rawClient(socket)
  await client.ask('SET k v', '+OK\r\n')
  expect(await engine.admin('GET k')).toBe('$1\r\nv\r\n')

  await using stranger = await dial(wanted.port)
  stranger.send('PING\r\n')
  const line = () => /^.*client was cut.*$/m.exec(proxy.log())?.[0]
  await until(() => line() !== undefined)
  expect(JSON.parse(line() ?? '')).toMatchObject({
    endpoint: 'tls',
    client: stranger.address,
    why: expect.stringMatching(/^TLS: /),
  })
})
