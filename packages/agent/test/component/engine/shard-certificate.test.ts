import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shardFolder } from '../../../src/folder/shard-folder.ts'
import { connectAs, makeHome, makeSpec, ownPort, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-shard-tls-'))
  const authority = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...authority,
    '-days',
    '2',
    '-subj',
    '/CN=ca',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  )
  writeFileSync(join(folder, 'extensions'), 'extendedKeyUsage=serverAuth,clientAuth\n')
  for (const name of ['first', 'second']) {
    openssl('req', ...authority, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    const sign = ['-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial']
    openssl('x509', ...sign, '-days', '1', '-extfile', 'extensions', '-out', `${name}.pem`)
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const certificate = (name: string) => ({
  ca: read('ca.pem'),
  cert: read(`${name}.pem`),
  key: read(`${name}.key`),
})

/** The certificate that the listener at a port shows. */
async function subjectAt(port: number): Promise<string> {
  const { ca, cert, key } = certificate('first')
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect({ host: '127.0.0.1', port, ca, cert, key, checkServerIdentity: () => undefined })
  socket.on('secureConnect', () => resolve(socket.getPeerX509Certificate()?.subject ?? ''))
  socket.on('error', reject)
  const subject = await promise
  socket.destroy()
  return subject
}

// invariant: Another certificate of shards restarts nothing.
test.for(engines.map(({ flavour, version }) => ({ flavour, version })))(
  'a shard proves itself with another certificate as soon as it is put, without a restart: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const plain = await makeSpec({ build, cluster: true })
    const port = await ownPort()
    const params = { id: 'a-1' }
    await home.client.putShard({
      params,
      body: { ...plain, tls: { port, certificate: certificate('first') } },
    })
    const { pid, certificate: before } = await home.becomes('a-1', { state: 'running' })
    for (const at of [port, plain.port + 10_000]) expect(await subjectAt(at)).toBe('CN=first')
    const paths = shardFolder(home.path, 'a-1').certificate
    for (const path of Object.values(paths)) expect(statSync(path).mode & 0o777).toBe(0o600)

    await home.client.putShardCertificate({ params, body: certificate('second') })
    await until(async () => (await subjectAt(port)) === 'CN=second')
    expect(await subjectAt(plain.port + 10_000)).toBe('CN=second')
    expect(readFileSync(paths.key, 'utf8')).toBe(read('second.key'))
    const after = await home.shard('a-1')
    expect(after?.pid).toBe(pid)
    await until(async () => (await home.shard('a-1'))?.certificate !== before)
    using admin = await connectAs('fairlead', plain)
    for (const name of ['tls-cluster', 'tls-replication', 'tls-auth-clients'])
      expect(await admin.call('CONFIG', 'GET', name)).toEqual([name, 'yes'])
  },
)

test('a trial speaks TLS where it gets a certificate: with a key that is not of the certificate a build does not pass', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { build, persistence, snapshots, memoryBytes, evictionPolicy, aofFsync, backlogBytes } =
    await makeSpec({})
  const limits = { memoryBytes, evictionPolicy, aofFsync, backlogBytes }
  const request = { ...limits, build, persistence, snapshots, modules: [], selfTest: [] }
  const tried = async (key: string) =>
    await home.client.tryBuild({
      body: {
        ...request,
        cluster: false,
        rdbVersionCheck: 'strict',
        certificate: { ...certificate('first'), key: read(key) },
      },
    })
  expect(await tried('first.key')).toMatchObject({ ok: true, why: '' })
  expect(await tried('second.key')).toMatchObject({ ok: false, why: expect.stringMatching(/TLS|key/) })
})
