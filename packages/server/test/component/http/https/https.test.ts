import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimPorts } from '../../../../../../proof/claim-ports.ts'
import { longHello } from '../../../../../../proof/floods/long-hello.ts'
import { until, untilClosed } from '../../../../../../proof/until.ts'
import { makeApiCertificate, makeAuthority } from '../../../../src/tls/make-certificate.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'
import { dial, httpsClient } from '../../../https-client.ts'

const opened = new AsyncDisposableStack()
let fairlead: TestControlPlane
let port: number
let ca: string
let admin: string
beforeAll(async () => {
  port = opened.use(await claimPorts()).from
  const names = ['fairlead.example.org', '10.1.2.3']
  fairlead = opened.use(await startControlPlane({ httpsPort: port, httpsNames: names, mostConnections: 40 }))
  ca = readFileSync(join(fairlead.home, 'ca.pem'), 'utf8')
  admin = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => opened.disposeAsync())

/** What this port says to these bytes, until it closes. */
async function say(toPort: number, bytes: string | Uint8Array): Promise<string> {
  const socket = connect({ port: toPort, host: '127.0.0.1' })
  let heard = ''
  socket.on('data', (chunk) => {
    heard += chunk.toString('latin1')
  })
  socket.write(bytes)
  await untilClosed(socket)
  return heard
}

async function shown(): Promise<X509Certificate> {
  const socket = await dial(port, { rejectUnauthorized: false })
  const leaf = new X509Certificate(socket.getPeerCertificate(true).raw)
  socket.destroy()
  return leaf
}

/** The authority that comes with it, PEM; undefined: it comes alone. */
async function shownAuthority(): Promise<string | undefined> {
  const socket = await dial(port, { rejectUnauthorized: false })
  const { issuerCertificate } = socket.getPeerCertificate(true)
  socket.destroy()
  return issuerCertificate && new X509Certificate(issuerCertificate.raw).toString()
}

describe('the certificate', () => {
  test('is of the authority of the cluster, whose file lies in the home, and proves each name of this server', async () => {
    const { body } = await fairlead.send('GET', '/v1/cluster/certificates', { auth: admin })
    expect(body['ca_cert']).toBe(ca)
    const leaf = await shown()
    expect(leaf.toString()).toBe(body['api_cert'])
    expect(leaf.verify(new X509Certificate(ca).publicKey)).toBe(true)
    // So that a client which does not know it can show its fingerprint to a person.
    expect(await shownAuthority()).toBe(ca)
    for (const name of ['localhost', 'fairlead.example.org']) expect(leaf.checkHost(name)).toBe(name)
    for (const address of ['127.0.0.1', '::1', '10.1.2.3']) expect(leaf.checkIP(address)).toBe(address)
    expect(leaf.subjectAltName).toContain(hostname().toLowerCase())
    expect(leaf.checkHost('elsewhere.example.org')).toBeUndefined()
  })

  test('stays the same at the next start', async () => {
    const { fingerprint256 } = await shown()
    await fairlead.restart()
    expect((await shown()).fingerprint256).toBe(fingerprint256)
  })
})

const hasIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')

test.runIf(hasIPv6).each([
  ['::1', ['::1']],
  ['::', ['::1', '127.0.0.1']],
])('the API is served over IPv6 at %s', async (httpsAddress, hosts) => {
  await using ports = await claimPorts()
  await using other = await startControlPlane({ httpsPort: ports.from, httpsAddress })
  const authority = readFileSync(join(other.home, 'ca.pem'), 'utf8')
  for (const host of hosts) {
    const socket = connectTls({ host, port: ports.from, ca: authority })
    await once(socket, 'secureConnect')
    socket.destroy()
  }
})

describe('another certificate', () => {
  /** As an operator may have one, of an authority that is not ours. */
  async function makeOwn() {
    const authority = await makeAuthority(Date.now())
    const { cert, key } = await makeApiCertificate(authority, ['localhost', '127.0.0.1'], Date.now())
    return { ca: authority.cert, cert, key }
  }
  const update = (pair: { readonly cert: string; readonly key: string }) =>
    fairlead.send('PUT', '/v1/cluster/update_cert', {
      auth: admin,
      body: { name: 'api', certificate: pair.cert, key: pair.key },
    })

  test('that an operator gives is shown to new connections at once, also after a start; the present ones stay', async () => {
    using client = httpsClient(port, ca)
    expect((await client.send('GET', '/v1/bootstrap')).status).toBe(200)
    const before = await shown()
    const own = await makeOwn()
    const { status, body } = await update(own)
    expect([status, body['api_cert']]).toEqual([200, own.cert])
    expect(JSON.stringify(body)).not.toContain('PRIVATE')
    expect((await client.send('GET', '/v1/bootstrap')).status).toBe(200)
    expect(client.connections).toBe(1)
    await expect(dial(port, { ca })).rejects.toThrow('unable to verify')
    expect(await shownAuthority()).toBeUndefined()
    ;(await dial(port, { ca: own.ca })).destroy()
    await fairlead.restart()
    ;(await dial(port, { ca: own.ca })).destroy()

    const back = await fairlead.send('DELETE', '/v1/cluster/certificates/api', { auth: admin })
    expect(back.body['api_cert']).toBe(before.toString())
    expect((await shown()).fingerprint256).toBe(before.fingerprint256)
  })

  test('that does not fit its key is refused, and nothing changes', async () => {
    const before = await shown()
    const { cert } = await makeOwn()
    const { status, body } = await update({ cert, key: (await makeOwn()).key })
    expect([status, body['error_code']]).toEqual([400, 'invalid_certificate'])
    expect((await shown()).fingerprint256).toBe(before.fingerprint256)
  })
})

describe('TLS', () => {
  const accepted: readonly (readonly [string, ConnectionOptions])[] = [
    ['TLSv1.3', {}],
    ['TLSv1.2', { maxVersion: 'TLSv1.2' }],
    ['TLSv1.2', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' }],
  ]
  for (const [version, options] of accepted)
    test(`${version} with ${options.ciphers ?? 'what the client likes'} is spoken, with a cipher of AEAD`, async () => {
      const socket = await dial(port, { ca, ...options })
      expect(socket.getProtocol()).toBe(version)
      expect(socket.getCipher().name).toMatch(/GCM|CHACHA20/)
      socket.destroy()
    })

  const refused: readonly (readonly [string, ConnectionOptions])[] = [
    ['TLS 1.1', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }],
    ['CBC', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA' }],
    ['RSA without forward secrecy', { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' }],
  ]
  for (const [what, options] of refused)
    test(`${what} is refused`, async () => {
      await expect(dial(port, { ca, ...options })).rejects.toThrow(/alert|handshake failure|protocol version/)
    })
})

test('a client that does not offer HTTP/1.1 is refused in the handshake', async () => {
  await expect(dial(port, { ca, ALPNProtocols: ['spdy/3'] })).rejects.toThrow(/no application protocol/)
})

describe('what does not belong to a port', () => {
  test('plain HTTP at the port of HTTPS is told so, and closed', async () => {
    const heard = await say(port, 'GET /v1/bootstrap HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(heard).toMatch(/^HTTP\/1.1 400 .*this port speaks HTTPS: use https:/s)
  })

  test('TLS at the port of plain HTTP is told so, and closed', async () => {
    const hello = Uint8Array.of(0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0)
    const heard = await say(Number(new URL(fairlead.url).port), hello)
    expect(heard).toMatch(/^HTTP\/1.1 400 .*this port speaks plain HTTP/s)
  })

  test('what begins as TLS and goes on as nonsense is closed', async () => {
    expect(await say(port, Uint8Array.of(0x16, 3, 1, 0, 4, 99, 0, 0, 0))).not.toContain('HTTP')
  })

  test('a first message of TLS that is longer than that of any client is never read by TLS', async () => {
    expect(await say(port, longHello())).toBe('')
  })

  test('bytes within TLS that are no request are answered as on the port of plain HTTP', async () => {
    const socket = await dial(port, { ca })
    let heard = ''
    socket.on('data', (chunk) => {
      heard += chunk.toString()
    })
    socket.write('nonsense\r\n\r\n')
    await untilClosed(socket)
    expect(heard).toMatch(/^HTTP\/1.1 400 .*this is no HTTP request/s)
  })
})

describe('the API', () => {
  test('is the same as over plain HTTP, over one connection that stays', async () => {
    using client = httpsClient(port, ca)
    const body = { username: 'admin', password: adminPassword }
    const { access_token: token } = (await client.send('POST', '/v1/users/authorize', { body })).body
    const auth = `Bearer ${token}`
    for (const path of [
      '/v1/users',
      '/v1/bdbs',
      '/v1/cluster',
      '/v1/roles',
      '/v1/bootstrap',
      '/openapi.json',
    ]) {
      const [over, plain] = [
        await client.send('GET', path, { auth }),
        await fairlead.send('GET', path, { auth }),
      ]
      expect([path, over.status, over.body]).toEqual([path, plain.status, plain.body])
      expect(over.headers.get('content-security-policy')).toBe(plain.headers.get('content-security-policy'))
    }
    const user = { email: 'tls@example.org', password: 'over-tls-12345', name: 'tls', role: 'db_viewer' }
    const made = await client.send('POST', '/v1/users', { auth, body: user })
    expect(made.status).toBe(200)
    expect((await client.send('DELETE', `/v1/users/${made.body['uid']}`, { auth })).status).toBe(200)
    expect((await client.send('GET', '/v1/users')).status).toBe(401)
    expect((await client.send('GET', '/v1/nothing', { auth })).status).toBe(404)
    expect(client.connections).toBe(1)
  })

  test('is not there for the name of a page', async () => {
    using client = httpsClient(port, ca)
    const ask = async (host: string) =>
      (await client.send('GET', '/v1/bootstrap', { headers: { host } })).status
    expect(await ask('evil.example')).toBe(400)
    expect(await ask(`fairlead.example.org:${port}`)).toBe(200)
    expect(await ask(hostname())).toBe(200)
  })
})

test('a server that stops ends connections over HTTPS that ask nothing, also those that have never asked', async () => {
  using client = httpsClient(port, ca)
  expect((await client.send('GET', '/v1/bootstrap')).status).toBe(200)
  const silent = await dial(port, { ca })
  silent.resume()
  const closed = untilClosed(silent)
  await fairlead.restart()
  await closed
  expect((await client.send('GET', '/v1/bootstrap')).status).toBe(200)
  expect(client.connections).toBe(2)
})

describe('a hostile client', () => {
  test('that begins handshakes and does not end them takes no place of others, and is ended', async () => {
    const idle: Socket[] = []
    let closed = 0
    for (let n = 0; n < 120; n += 1) {
      const socket = connect({ port, host: '127.0.0.1' })
      idle.push(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        closed += 1
      })
      // Half of them say nothing, half begin a record.
      if (n % 2 === 0) socket.write(Uint8Array.of(0x16, 3, 1, 2, 0, 1))
    }
    using client = httpsClient(port, ca)
    for (let n = 0; n < 5; n += 1) expect((await client.send('GET', '/v1/bootstrap')).status).toBe(200)
    await until('all of them are closed', async () => closed === idle.length, { withinMs: 60_000 })
    expect((await client.send('GET', '/v1/bootstrap')).status).toBe(200)
  })
})

/** The last test: its clock goes where real clients are not. */
test('another certificate is made in time by the server itself, and connections stay', async () => {
  using client = httpsClient(port, ca)
  expect((await client.send('GET', '/v1/bootstrap')).status).toBe(200)
  const before = await shown()
  fairlead.pass({ days: 61 })
  await until('the server has looked', async () => (await shown()).fingerprint256 !== before.fingerprint256)
  expect((await shown()).verify(new X509Certificate(ca).publicKey)).toBe(true)
  expect(await shownAuthority()).toBe(ca)
  expect((await client.send('GET', '/v1/bootstrap')).status).toBe(200)
  expect(client.connections).toBe(1)
})
