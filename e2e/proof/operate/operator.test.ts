import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { libraries } from '../../../proof/clients/clients.ts'
import { startWork } from '../../../proof/clients/work.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { adminPassword, type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { printedBlocks } from '../../support/walk.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

/** Runs `fairlead …` on its home, as the operator of the machine would. */
async function run(...args: string[]) {
  const main = join(import.meta.dirname, '../../../packages/cli/src/main.ts')
  const child = spawn(process.execPath, ['--conditions=@fairlead/source', main, ...args], {
    env: { PATH: process.env['PATH'], FAIRLEAD_HOME: fairlead.home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  await closed
  return { code: child.exitCode, stdout, stderr }
}

async function authorize(password: string): Promise<number> {
  const answer = await fetch(new URL('/v1/users/authorize', fairlead.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  })
  return answer.status
}

// invariant: A change by the operator is in the audit.
test('each change of a database is in the audit with the user, the result, and the reason of a failure', async () => {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'audited', memory_size: 0, engine_version: build('valkey', '8.0') },
  })
  await fairlead.untilEnded(action_uid)
  const upgraded = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: build('valkey', '8.1') },
  })
  await fairlead.untilEnded(upgraded.action_uid)
  const deleted = await fairlead.api.deleteDatabase({ params: { uid } })
  await fairlead.untilEnded(deleted.action_uid)

  const logs = await fairlead.api.listLogs({ query: {} })
  expect(
    logs
      .filter(({ bdb_uid }) => bdb_uid === String(uid))
      .map(({ type, originator, details }) => [type, originator, details]),
  ).toEqual([
    ['bdb_created', 'admin', { name: 'audited', build: expect.stringMatching(/^valkey 8\.0\./) }],
    ['bdb_action_completed', '', { action: action_uid, kind: 'create' }],
    ['bdb_upgrade_requested', 'admin', { to: expect.stringMatching(/^valkey 8\.1\./) }],
    ['bdb_action_completed', '', { action: upgraded.action_uid, kind: 'upgrade' }],
    ['bdb_deleted', 'admin', {}],
    ['bdb_action_completed', '', { action: deleted.action_uid, kind: 'delete' }],
  ])
})

test('clients that check certificates notice neither an upgrade nor another certificate, as docs/operate/tls.md has it', async () => {
  const { api } = fairlead
  const [create = '', own = '', takeBack = ''] = printedBlocks('docs/operate/tls.md')
  const main = join(import.meta.dirname, '../../../packages/cli/src/main.ts')
  const first = `export FAIRLEAD_HOME=${fairlead.home}\ncd $FAIRLEAD_HOME\n${create}`
    .replace('npm run -s fairlead --', `${process.execPath} --conditions=@fairlead/source ${main}`)
    .replace('http://127.0.0.1:8080', fairlead.url)
    .replace('PASSWORD', adminPassword)
  const sh = async (script: string) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { stdio: ['ignore', 'pipe', 'pipe'] })
    const closed = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    await closed
    expect(child.exitCode, stderr).toBe(0)
    return stdout + stderr
  }
  // The blocks belong together: the later ones use the variables of the first one.
  const found = `${first}\ndeclare -p api json auth uid port > found.sh`
  expect(await sh(found)).toMatch(/Verification: OK/)
  const again = (script: string) => sh(`cd ${fairlead.home}\n. ./found.sh\n${script}`)

  const { uid = 0 } = (await api.listDatabases({})).find(({ name }) => name === 'private') ?? {}
  const database = await api.getDatabase({ params: { uid } }) // a list has no passwords
  const { port = 0, authentication_engine_pass: password = '' } = database
  expect(database).toMatchObject({ tls_mode: 'enabled', endpoints: [{ dns_name: '127.0.0.1' }] })
  const login = { port, password, tls: { ca: readFileSync(join(fairlead.home, 'ca.pem'), 'utf8') } }
  const [ioredis, nodeRedis] = [libraries['ioredis'], libraries['node-redis']]
  if (ioredis === undefined || nodeRedis === undefined) throw new Error('a library is not there')
  const byAddress = await nodeRedis.connect({ ...login, host: '127.0.0.1' }) // it must exist before work counts connections
  const work = await startWork(ioredis, { ...login, host: 'localhost' })
  await until('it is at work', async () => work.answers() > 1_000)

  const { action_uid } = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: build('valkey', '8.1') },
  })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  expect(await again(own)).toContain('"proxy_cert"')
  const shown = async () => {
    const socket = connect({
      host: '127.0.0.1',
      port,
      servername: 'db.example.org',
      rejectUnauthorized: false,
    })
    using _ = { [Symbol.dispose]: () => void socket.destroy() }
    await once(socket, 'secureConnect')
    return socket.getPeerCertificate().subject.CN
  }
  await until('the other certificate is shown', async () => (await shown()) === 'db.example.org')
  expect(await api.getAvailability({ params: { uid } })).toEqual({ available: true })
  await again(takeBack)
  await until('ours is shown', async () => (await shown()) === 'Fairlead endpoint')
  expect(await api.getAvailability({ params: { uid } })).toEqual({ available: true })

  const places = ['proxy/own', 'proxy'].map((folder) => join(fairlead.home, folder, 'endpoints.json'))
  const endpoints = places.find((path) => existsSync(path)) ?? 'none'
  expect(statSync(endpoints).mode & 0o777).toBe(0o600)
  const put = JSON.parse(readFileSync(endpoints, 'utf8')) as Record<string, { tls?: { key: string } }>
  const [wanted] = Object.values(put)
  const key = wanted?.tls?.key ?? ''
  expect(key).toContain('PRIVATE KEY')
  expect(wanted).not.toHaveProperty('name') // what the Sentinel server of the proxy would answer
  const holders = readdirSync(fairlead.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file, 'latin1').includes('PRIVATE KEY'))
  const [ofShards = [], others = []] = [true, false].map((is) =>
    holders.filter((file) => file.startsWith(join(fairlead.home, 'shards')) === is),
  )
  expect(others.toSorted()).toEqual([join(fairlead.home, 'own.key'), endpoints])
  // Shards have the key of their database, with which they recognize each other, and not that of endpoints.
  expect(ofShards.filter((file) => readFileSync(file, 'latin1').includes(key.split('\n')[1] ?? ''))).toEqual(
    [],
  )

  const after = work.answers()
  await until('it goes on', async () => work.answers() > after + 1_000)
  expect(await byAddress.call('GET', 'counter:{0}')).toMatch(/^\d+$/)
  expect(await work.stop()).toMatchObject({ wrong: [], reconnects: 0 })
  await byAddress.close()
})

test('the audit is verified on the command line, while the server runs and while it does not', async () => {
  const before = await run('audit', 'verify')
  expect(before).toMatchObject({ code: 0, stderr: '' })
  const [, head = ''] = /^head (\S+)$/m.exec(before.stdout) ?? []
  await authorize('wrong')
  const after = await run('audit', 'verify', '--head', head, '--json')
  expect(JSON.parse(after.stdout)).toMatchObject({ records: Number(head.split(':')[0]) + 1 })
  expect(await run('audit', 'verify', '--head', `1:${'0'.repeat(64)}`)).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('cut off or rewritten'),
  })
  await fairlead.server.end('SIGKILL')
  expect((await run('audit', 'verify', '--head', head)).code).toBe(0)
  expect(await run('keys', 'list')).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('no server answers'),
  })
  await fairlead.server.start()
})

test('keys are listed and rotated on the command line', async () => {
  const keys = async (...args: string[]) =>
    JSON.parse((await run('keys', ...args, '--json')).stdout) as { kid: string; state: string }[]
  const [before, after] = [await keys('list'), await keys('rotate')]
  const kidOf = (all: typeof before, state: string) => all.find((key) => key.state === state)?.kid
  expect(kidOf(after, 'active')).toBe(kidOf(before, 'next'))
  expect((await run('keys', 'list')).stdout).toMatch(/^KEY +STATE +CREATED\n/)
  expect((await fairlead.api.listNodes({})).length).toBe(1) // a token of the former key is still valid
  await run('keys', 'rotate', '--drop-all')
  await expect(fairlead.api.listNodes({})).rejects.toMatchObject({ code: 'unauthorized' })
})

test('a password is reset on the command line', async () => {
  const { stdout } = await run('users', 'reset-password', 'admin')
  const [, password = ''] = /password: (\S+)/.exec(stdout) ?? []
  expect(await authorize(password)).toBe(200)
  expect(await run('users', 'reset-password', 'nobody')).toEqual({
    code: 6,
    stdout: '',
    stderr: expect.stringMatching(/ {2}\[user_not_exist\]\n$/),
  })
})
