import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClaimedPorts, claimPorts } from '../../../proof/claim-ports.ts'
import { commandLine } from '../../../proof/run-command-line.ts'
import { adminPassword, type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

let fairlead: Fairlead
let server: string
let ports: ClaimedPorts
const folder = mkdtempSync(join(tmpdir(), 'fairlead-profiles-'))
const config = join(folder, 'config')
beforeAll(async () => {
  ports = await claimPorts()
  const port = ports.from
  fairlead = await startFairlead({ env: { FAIRLEAD_HTTPS_PORT: String(port) } })
  server = `https://127.0.0.1:${port}`
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  await ports[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const away = commandLine({ FAIRLEAD_CONFIG: config, FAIRLEAD_HOME: join(folder, 'nowhere') })
const fingerprint = async () => {
  const here = commandLine({ FAIRLEAD_CONFIG: config, FAIRLEAD_HOME: fairlead.home })
  return (await here.run(['certificates', 'show', '--fingerprint'])).stdout.trim()
}

test('the operator of the machine needs no password: access to the socket is the permission', async () => {
  const here = commandLine({ FAIRLEAD_CONFIG: join(folder, 'none'), FAIRLEAD_HOME: fairlead.home })
  expect(await here.run(['whoami', '-o', 'json'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"name": "operator"'),
    stderr: '',
  })
  const [last] = await fairlead.api.listLogs({ query: { limit: 1, order: 'desc' } })
  expect(last?.type).not.toBe('login_failed')
  expect(await away.run(['whoami'])).toEqual({
    code: 7,
    stdout: '',
    stderr: expect.stringMatching(/ fairlead up {2}\[unreached\]\n$/),
  })
})

test('a server with an authority of its own is trusted once its fingerprint was compared, and not before', async () => {
  const known = await fingerprint()
  const login = ['login', '--server', server, '--username', 'admin', '--password-stdin']
  const refused = await away.run(login, adminPassword)
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain(`SHA-256 ${known}.`)
  const other = `${known.startsWith('00') ? '11' : '00'}${known.slice(2)}`
  const wrong = await away.run([...login, '--fingerprint', other], adminPassword)
  expect(wrong).toMatchObject({ code: 2, stdout: '' })

  const session = away.onTerminal(['login', '--server', server])
  await session.type('Trust it? [y/N]', 'y\n')
  await session.type('Username:', 'admin\n')
  await session.type('Password:', `${adminPassword}\r`)
  expect(await session.ended).toBe(0)
  expect(session.shown()).toContain(known)
  expect(session.shown()).not.toContain(adminPassword)
  expect(session.shown()).toContain(`admin (admin) on ${new URL(server).host}`)
  const [settings, secret] = ['config.json', 'credentials.json'].map((name) => join(config, name))
  expect([config, settings, secret].map((path) => statSync(path ?? '').mode & 0o777)).toEqual([
    ...[0o700, 0o600, 0o600],
  ])
  expect(readFileSync(settings ?? '', 'utf8')).not.toContain('token')
  expect(readFileSync(secret ?? '', 'utf8')).not.toContain(adminPassword)
})

test('a command that is asked to stop while it asks for a password says that you are not signed in', async () => {
  const env = { FAIRLEAD_CONFIG: join(folder, 'stopped'), FAIRLEAD_HOME: join(folder, 'nowhere') }
  const session = commandLine(env).onTerminal(['login', '--server', server, '--username', 'admin'])
  await session.type('Trust it? [y/N]', 'y\n')
  await until('it asks', () => session.shown().includes('Password: '))
  await session.signal('SIGINT')
  expect(await session.ended).toBe(130)
  expect(session.shown()).toContain('not signed in')
})

test('after a wrong password a person is asked for it again, twice, and for nothing else', async () => {
  const env = { FAIRLEAD_CONFIG: join(folder, 'again'), FAIRLEAD_HOME: join(folder, 'nowhere') }
  const signIn = async (passwords: readonly string[]) => {
    const session = commandLine(env).onTerminal(['login', '--server', server, '--username', 'admin'])
    await session.type('Trust it? [y/N]', 'y\n')
    for (const [n, password] of passwords.entries()) {
      await until('it asks', () => session.shown().split('Password: ').length === n + 2)
      await session.type('Password: ', `${password}\r`)
    }
    return { code: await session.ended, shown: session.shown() }
  }
  // An empty one is asked for again, and Ctrl-C does not say that nothing was sent.
  const stopped = await signIn(['', 'wrong', '\u0003'])
  expect(stopped).toMatchObject({ code: 130, shown: expect.stringContaining('not signed in') })
  expect(stopped.shown.match(/\[invalid_credentials\]/g)).toHaveLength(1)
  const inVain = await signIn(['wrong', 'wrong', 'wrong'])
  expect(inVain.code).toBe(4)
  expect(inVain.shown.match(/\[invalid_credentials\]/g)).toHaveLength(3)
  // Five wrong ones would lock the user.
  const second = await signIn(['', adminPassword])
  expect(second).toMatchObject({ code: 0, shown: expect.stringContaining('Signed in as admin') })
})

test('each value says where it came from, and the command line counts more than the environment, that more than the profile', async () => {
  const from = async (args: readonly string[], env: Record<string, string> = {}) => {
    const line = commandLine({ FAIRLEAD_CONFIG: config, FAIRLEAD_HOME: fairlead.home, ...env })
    return await line.run(['whoami', '-v', '--columns', 'user,server,server_from,token_from', ...args])
  }
  expect((await from([])).stdout).toBe(`admin\t${server}\tprofile\tprofile\n`)
  const token = { FAIRLEAD_TOKEN: fairlead.token, FAIRLEAD_SERVER: fairlead.url }
  expect((await from([], token)).stdout).toBe(`admin\t${fairlead.url}\tenvironment\tenvironment\n`)
  expect((await from(['--server', server], token)).stdout).toBe(`admin\t${server}\tflag\tprofile\n`)
  const other = { FAIRLEAD_TOKEN: fairlead.token }
  expect((await from(['--server', server], other)).stdout).toBe(`admin\t${server}\tflag\tenvironment\n`)
  // The token of a profile is for its server, and for no other.
  expect(await from(['--server', fairlead.url])).toMatchObject({ code: 4, stdout: '' })
  expect(await from(['--server', 'http://192.0.2.1:8080'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('plain HTTP'),
  })
})

test('a token in the second half of its life is renewed while it is used; one that has ended is told', async () => {
  const file = join(config, 'credentials.json')
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>
  const change = (times: object) => {
    const { default: login, ...others } = read()
    writeFileSync(file, JSON.stringify({ ...others, default: { ...login, ...times } }))
  }
  const before = read()['default']?.['token']
  change({ issuedMs: Date.now() - 7_000_000, endsMs: Date.now() + 3_000_000 })
  expect((await away.run(['whoami'])).code).toBe(0)
  expect(read()['default']?.['token']).not.toBe(before)
  expect(read()['default']?.['endsMs']).toBeGreaterThan(Date.now() + 9_000_000)

  change({ endsMs: Date.parse('2026-01-01T03:00:00Z') })
  const ended = await away.run(['whoami', '-o', 'json'])
  expect(ended).toMatchObject({ code: 4, stdout: '' })
  expect(JSON.parse(ended.stderr)).toEqual({
    error_code: 'unauthorized',
    exit_code: 4,
    message: expect.stringContaining('2026-01-01T03:00:00.000Z'),
  })
  chmodSync(file, 0o644)
  expect(await away.run(['whoami'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('can be read by others'),
  })
  chmodSync(file, 0o600)
})

test('signing out ends the token on the server, too; a wrong password is code 4', async () => {
  const again = ['login', '--username', 'admin', '--password-stdin']
  expect(await away.run(again, `${adminPassword}\r\n`)).toMatchObject({ code: 0 })
  const { token } = (
    JSON.parse(readFileSync(join(config, 'credentials.json'), 'utf8')) as Record<string, { token: string }>
  )['default'] ?? { token: '' }
  expect(await away.run(['logout'])).toEqual({
    code: 0,
    stdout: 'Signed out. Profile "default" stays.\n',
    stderr: '',
  })
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(new URL('/v1/users/self', fairlead.url), { headers })).status).toBe(401)
  expect(await away.run(['whoami'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('fairlead login'),
  })
  expect(await away.run(again, 'wrong')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('[invalid_credentials]'),
  })
  const nowhere = ['--username', 'admin', '--password-file', join(folder, 'no-such-file')]
  expect(await away.run(['login', ...nowhere])).toMatchObject({ code: 2, stdout: '' })
  expect(await away.run(again, '')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the password is empty'),
  })
  expect(await away.run(['whoami', '--columns', 'x', '--nope'])).toMatchObject({ code: 2, stdout: '' })
})

test('what is read is asked for again while the server cannot answer; what changes something is sent once', async () => {
  const asked: string[] = []
  const busy = createServer((request, response) => {
    asked.push(request.method ?? '')
    const isThird = asked.length === 3
    response.writeHead(isThird ? 200 : 503, { 'content-type': 'application/json' })
    const self = { name: 'ada', role: 'admin', token_expires: null }
    response.end(JSON.stringify(isThird ? self : { error_code: 'unavailable', message: 'in a moment' }))
  })
  const port = ports.to
  await new Promise<void>((resolve) => busy.listen(port, '127.0.0.1', resolve))
  try {
    const line = commandLine({ FAIRLEAD_CONFIG: join(folder, 'none'), FAIRLEAD_TOKEN: 'x' })
    const at = ['--server', `http://127.0.0.1:${port}`]
    expect(await line.run(['whoami', '--columns', 'user', ...at])).toMatchObject({ code: 0, stdout: 'ada\n' })
    expect(asked).toEqual(['GET', 'GET', 'GET'])
    const login = await line.run(['login', '--username', 'ada', '--password-stdin', ...at], 'a-password')
    expect(login).toMatchObject({ code: 7, stderr: expect.stringContaining('in a moment') })
    expect(asked.slice(3)).toEqual(['POST'])
  } finally {
    busy.close()
  }
})

test('what is wrong with the command line is JSON on stderr, too, where JSON is asked for', async () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['db', 'list', '--engine_version', '8', '-o', 'json'], /unknown option.*--engine-version/s],
    [['db', 'lst', '--output=jsonl'], /unknown command 'lst'/],
    [['db', 'show', '--json'], /missing required argument/],
    [['whoami', '--timeout', 'soon', '-o', 'json'], /--timeout/],
  ]
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await away.run(args)
    expect([args, code, stdout]).toEqual([args, 2, ''])
    expect(JSON.parse(stderr)).toEqual({
      error_code: 'usage',
      message: expect.stringMatching(message),
      exit_code: 2,
    })
  }
})
