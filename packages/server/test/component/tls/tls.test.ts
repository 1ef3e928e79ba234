import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endpointHosts, onlyLoopback } from '../../../src/core/state/endpoint-reach.ts'
import { connectOperator } from '../../../src/operator/operator-link.ts'
import { createSecretBox, readStoreKey } from '../../../src/store/secret-box.ts'
import { createTls } from '../../../src/tls/tls-service.ts'
import { tlsStore } from '../../../src/tls/tls-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'
import { openTestStore } from '../../open-test-store.ts'

let fairlead: TestControlPlane
let auth: string
let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-tls-'))
  fairlead = await startControlPlane()
  auth = await fairlead.signIn('admin', adminPassword)
})
afterEach(async () => {
  await fairlead[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const path = '/v1/cluster/certificates'
async function certificates() {
  const { status, body } = await fairlead.send('GET', path, { auth })
  expect(status).toBe(200)
  return { ca: String(body['ca_cert']), proxy: String(body['proxy_cert']) }
}
const update = (body: object) => fairlead.send('PUT', '/v1/cluster/update_cert', { auth, body })
const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
const read = (file: string) => readFileSync(join(folder, file), 'utf8')

/** A pair of an authority that is not ours: leaf.pem with leaf.key, signed by ca.pem. */
function makeOwn(days: string, extensions: string) {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-days', '2', '-subj', '/CN=own', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl('req', ...key, '-subj', '/CN=db.example.org', '-keyout', 'leaf.key', '-out', 'leaf.csr')
  const sign = ['-req', '-in', 'leaf.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial']
  writeFileSync(join(folder, 'extensions'), extensions)
  openssl('x509', ...sign, '-days', days, '-extfile', 'extensions', '-out', 'leaf.pem')
  return { leaf: read('leaf.pem'), key: read('leaf.key'), ca: read('ca.pem') }
}
const forServers = 'subjectAltName=DNS:db.example.org\nextendedKeyUsage=serverAuth\n'

test('there is an authority, and a certificate by it for each name of an endpoint, that clients accept', async () => {
  const { ca, proxy } = await certificates()
  const [authority, leaf] = [new X509Certificate(ca), new X509Certificate(proxy)]
  expect([authority.ca, leaf.ca]).toEqual([true, false])
  expect(authority.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true)

  const pair = await fairlead.withStore(({ db }) =>
    tlsStore(db, createSecretBox(readStoreKey(join(fairlead.home, 'store.key')))).get('proxy'),
  )
  await using server = createServer({ cert: pair?.cert, key: pair?.key }, (socket) => socket.resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dial = async (name: string, trusted = ca) => {
    // To no name of an endpoint, so that `name` alone is what must match.
    const target = name === 'localhost' ? { servername: name } : {}
    const socket = connect({ port, ca: trusted, ...target, host: '127.0.0.1' })
    using _ = { [Symbol.dispose]: () => void socket.destroy() }
    await once(socket, 'secureConnect')
  }
  await dial('127.0.0.1')
  await dial('localhost')
  await expect(dial('localhost', makeOwn('2', forServers).ca)).rejects.toThrow('unable to verify')
  const proves = (host: string) => (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host))
  expect(endpointHosts(onlyLoopback).filter((host) => proves(host) === undefined)).toEqual([])
  expect(leaf.checkHost('elsewhere.example.org')).toBeUndefined()
})

// invariant: A certificate is renewed before it ends.
test('both are the same after a restart, and renewed in time, when they are read', async () => {
  const first = await certificates()
  await fairlead.restart()
  expect(await certificates()).toEqual(first)
  fairlead.pass({ days: 59 })
  auth = await fairlead.signIn('admin', adminPassword)
  expect(await certificates()).toEqual(first)
  fairlead.pass({ days: 2 })
  auth = await fairlead.signIn('admin', adminPassword)
  const [second, again] = await Promise.all([certificates(), certificates()])
  expect(again).toEqual(second)
  expect(second.ca).toBe(first.ca)
  expect(second.proxy).not.toBe(first.proxy)

  // A client that trusts the former authority trusts what the renewed one signs.
  fairlead.pass({ days: 2_500 })
  auth = await fairlead.signIn('admin', adminPassword)
  const third = await certificates()
  expect(third.ca).not.toBe(first.ca)
  expect(new X509Certificate(third.ca).publicKey.equals(new X509Certificate(first.ca).publicKey)).toBe(true)
  const leaf = new X509Certificate(third.proxy)
  expect(leaf.checkIssued(new X509Certificate(first.ca))).toBe(true)
  const changes = (await fairlead.send('GET', '/v1/logs', { auth })).body as unknown as {
    type: string
    details: Record<string, string>
  }[]
  expect(
    changes
      .filter(({ type }) => type === 'tls_certificate_changed')
      .map(({ details }) => [details['name'], details['why']]),
  ).toEqual([
    ['ca', 'there is none yet'],
    ['proxy', 'there is none yet'],
    ['proxy', 'less than a third of its life is left'],
    ['ca', 'less than a third of its life is left'],
    ['proxy', 'it has expired'],
  ])
})

test('an operator’s own is shown in place of ours until it is taken back, and is not renewed', async () => {
  const first = await certificates()
  const manyNames = 'DNS:db.example.org,IP:10.0.0.1,IP:fe80::1,URI:https://[::1]/a,email:ops@example.org'
  const own = makeOwn('2', `subjectAltName=${manyNames},DNS:*.example.org\nextendedKeyUsage=serverAuth\n`)
  const certificate = `of db.example.org\n${own.leaf}${own.ca}`
  const { status, body } = await update({ name: 'proxy', key: own.key, certificate })
  expect([status, body]).toEqual([200, { ca_cert: first.ca, proxy_cert: own.leaf + own.ca, api_cert: null }])
  await fairlead.restart()
  expect(await certificates()).toEqual({ ca: first.ca, proxy: own.leaf + own.ca })

  fairlead.pass({ days: 3 })
  auth = await fairlead.signIn('admin', adminPassword)
  expect((await certificates()).proxy).toBe(own.leaf + own.ca)
  expect(fairlead.logged.filter((line) => line.includes('is to be replaced soon')).length).toBe(1)
  const back = await fairlead.send('DELETE', `${path}/proxy`, { auth })
  expect(back.status).toBe(200)
  expect(
    new X509Certificate(String(back.body['proxy_cert'])).checkIssued(new X509Certificate(first.ca)),
  ).toBe(true)
  expect((await fairlead.send('DELETE', `${path}/proxy`, { auth })).body).toEqual(back.body)
})

test('a certificate that clients could not use is refused with the reason, and nothing changes', async () => {
  const before = await certificates()
  const own = makeOwn('2', forServers)
  const client = makeOwn('2', 'extendedKeyUsage=clientAuth\n')
  const old = makeOwn('-1', forServers)
  const { leaf, key, ca } = makeOwn('2', forServers)
  openssl('ec', '-in', 'leaf.key', '-aes128', '-passout', 'pass:secret', '-out', 'locked.key')
  openssl('req', '-x509', '-newkey', 'rsa:1024', '-nodes', '-subj', '/CN=a', '-keyout', 'a.key', '-out', 'a')
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['nothing', key, /certificate: it holds no certificate/],
    [leaf.replace(/M/g, 'N'), key, /certificate: number 1 of the chain cannot be read/],
    [leaf, 'nothing', /key: it is no private key/],
    [leaf, read('locked.key'), /key: it is encrypted/],
    [leaf, own.key, /key: it does not belong/],
    [ca + leaf, key, /key: it does not belong/],
    [
      leaf + own.leaf,
      key,
      /certificate: number 1 .*CN=db\.example\.org.* is not signed by the one behind it/,
    ],
    [leaf + own.ca, key, /certificate: number 1 .* is not signed by the one behind it/],
    [old.leaf, old.key, /certificate: number 1 .* expired at/],
    [client.leaf, client.key, /certificate: it is not for servers/],
    [read('a'), read('a.key'), /certificate: it cannot be shown: .*key too small/],
  ]
  for (const [certificate, wrongKey, message] of cases) {
    const { status, body } = await update({ name: 'proxy', key: wrongKey, certificate })
    expect([status, body['error_code'], body['message']]).toEqual([
      ...[400, 'invalid_certificate', expect.stringMatching(message)],
    ])
  }
  expect((await update({ name: 'other', key, certificate: leaf })).body['message']).toMatch(/name: must be/)
  expect(await certificates()).toEqual(before)
})

test('only users who may change the cluster change them; users who may see it see them', async () => {
  for (const [name, role] of [
    ['viewer', 'cluster_viewer'],
    ['nobody', 'none'],
  ])
    await fairlead.send('POST', '/v1/users', { auth, body: { name, password: 'a-password-of-mine', role } })
  const own = makeOwn('2', forServers)
  const body = { name: 'proxy', key: own.key, certificate: own.leaf }
  const statuses = async (name: string) => {
    const as = { auth: await fairlead.signIn(name, 'a-password-of-mine') }
    const read = await fairlead.send('GET', path, as)
    const change = await fairlead.send('PUT', '/v1/cluster/update_cert', { ...as, body })
    const reset = await fairlead.send('DELETE', `${path}/proxy`, as)
    return [read.status, change.status, reset.status]
  }
  expect(await statuses('viewer')).toEqual([200, 403, 403])
  expect(await statuses('nobody')).toEqual([403, 403, 403])
})

test('no private key is answered, logged, or in a file without the key of the store', async () => {
  const own = makeOwn('2', forServers)
  const said: unknown[] = [
    (await update({ name: 'proxy', key: [own.key], certificate: own.leaf })).body,
    (await update({ name: 'proxy', key: own.key, certificate: 'x', password: own.key })).body,
    (await update({ name: 'proxy', key: own.key, certificate: own.leaf + own.leaf })).body,
    (await update({ name: 'proxy', key: own.key, certificate: own.leaf })).body,
    (await fairlead.send('GET', '/v1/logs', { auth })).body,
    await connectOperator(fairlead.home).getCertificates({}),
  ]
  const box = createSecretBox(readStoreKey(join(fairlead.home, 'store.key')))
  const keys = await fairlead.withStore(async ({ db }) => {
    const pairs = await Promise.all((['ca', 'proxy'] as const).map((name) => tlsStore(db, box).get(name)))
    return pairs.flatMap((pair) => pair?.key ?? [])
  })
  expect(keys[1]).toContain(createPrivateKey(own.key).export({ type: 'pkcs8', format: 'pem' }))
  const all = [JSON.stringify(said), ...fairlead.logged]
  for (const entry of readdirSync(fairlead.home, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) all.push(readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  const lines = keys.flatMap((pem) => pem.split('\n')).filter((line) => /^[\w+/=]{20,}$/.test(line))
  expect(lines.length).toBeGreaterThan(3)
  const text = all.join('\n')
  expect(lines.filter((line) => text.includes(line))).toEqual([])
  expect(text).not.toContain('PRIVATE KEY')
})

test('two that ask first get the same authority', async () => {
  await using store = await openTestStore(':memory:')
  const log = pino({ level: 'silent' })
  const tls = createTls({
    reach: () => onlyLoopback,
    store,
    box: createSecretBox(new Uint8Array(32)),
    now: Date.now,
    log,
  })
  const [one, other] = await Promise.all([tls.current(), tls.current()])
  expect(one).toEqual(other)
})

test('of two servers that find a certificate due at the same time, one renews it', async () => {
  await using store = await openTestStore(':memory:')
  const log = pino({ level: 'silent' })
  const box = createSecretBox(new Uint8Array(32))
  let nowMs = Date.now()
  const start = () =>
    createTls({ reach: () => onlyLoopback, store: { ...store, isShared: true }, box, now: () => nowMs, log })
  const [one, other] = [start(), start()]
  const first = await one.current()
  expect(await other.current()).toEqual(first)
  nowMs += 61 * 86_400_000
  const [mine, theirs] = await Promise.all([one.current(), other.current()])
  expect(mine).not.toEqual(first)
  expect(theirs).toEqual(mine)
  expect([await one.current(), await other.current()]).toEqual([mine, mine])
})

test('servers with other names show other certificates, and those with the same names one, each renewed in time', async () => {
  await using store = await openTestStore(':memory:')
  const log = pino({ level: 'silent' })
  const box = createSecretBox(new Uint8Array(32))
  let nowMs = Date.now()
  const start = (...apiHosts: string[]) =>
    createTls({
      reach: () => onlyLoopback,
      store: { ...store, isShared: true },
      box,
      now: () => nowMs,
      log,
      apiHosts,
    })
  const servers = [start('a.example.org'), start('b.example.org'), start('a.example.org')]
  const read = async () => {
    const found = []
    for (const server of servers) found.push((await server.api())?.cert ?? '')
    return found
  }
  const first = await read()
  expect(new Set(first).size).toBe(2)
  expect(first[2]).toBe(first[0])
  expect(await read()).toEqual(first)
  nowMs += 61 * 86_400_000
  const second = await read()
  expect(new Set([...first, ...second]).size).toBe(4)
  // A server's certificate for former names is removed.
  nowMs += 101 * 86_400_000
  await servers[1]?.api()
  const rows = await store.db
    .selectFrom('tls_certificates')
    .select('name')
    .where('name', 'like', 'api:%')
    .execute()
  expect(rows.length).toBe(1)
})

test('the certificate of endpoints follows their addresses and their suffix at the next reading', async () => {
  await using store = await openTestStore(':memory:')
  const log = pino({ level: 'silent' })
  let reach = onlyLoopback
  const box = createSecretBox(new Uint8Array(32))
  const tls = createTls({ reach: () => reach, store, box, now: Date.now, log })
  const shown = async () => new X509Certificate((await tls.current()).proxy.cert)
  const before = await shown()
  expect(before.checkIP('10.1.2.3')).toBeUndefined()
  reach = { addresses: ['10.1.2.3', 'fd00::2'], suffix: 'db.example.net', missing: [] }
  const after = await shown()
  for (const address of ['127.0.0.1', '10.1.2.3', 'fd00::2']) expect(after.checkIP(address)).toBe(address)
  for (const name of ['redis-10001.db.example.net', 'carts.db.example.net', 'localhost'])
    expect(after.checkHost(name), name).toBeDefined()
  expect(after.checkHost('a.b.db.example.net')).toBeUndefined()
  expect((await shown()).fingerprint256).toBe(after.fingerprint256)
  reach = { addresses: [], suffix: 'fairlead.localhost', missing: [] }
  expect((await shown()).checkHost('redis-10001.fairlead.localhost')).toBeDefined()
})

test('a certificate whose key no client of TLS knows is refused, for endpoints and for the API', async () => {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1', '-nodes', '-keyout', 'k1.key']
  openssl('req', '-x509', ...key, '-days', '2', '-subj', '/CN=own', '-out', 'k1.pem')
  for (const name of ['proxy', 'api'])
    expect((await update({ name, certificate: read('k1.pem'), key: read('k1.key') })).body).toMatchObject({
      error_code: 'invalid_certificate',
      message: 'key: clients of TLS do not know the curve secp256k1; take P-256, P-384 or P-521',
    })
})
