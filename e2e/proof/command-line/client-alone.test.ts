import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { commandLine } from '../../../proof/run-command-line.ts'
import { adminPassword, startFairlead } from '../../../proof/start-fairlead.ts'

const root = join(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'fairlead-client-'))
const installed = join(folder, 'node_modules/fairlead-client')
let packed: string

beforeAll(() => {
  const pack = join(root, 'packages/cli/build/pack-client.ts')
  packed = execFileSync(process.execPath, ['--conditions=@fairlead/source', pack, folder], {
    encoding: 'utf8',
  }).trim()
  // Without a registry: it needs nothing else.
  execFileSync('npm', ['install', '--offline', '--prefix', folder, packed], { stdio: 'ignore' })
})
afterAll(() => rmSync(folder, { recursive: true }))

/** As on another machine: no FAIRLEAD_HOME, no packages of the repository. */
async function run(...args: readonly string[]) {
  const env = { PATH: process.env['PATH'], HOME: folder }
  const program = join(installed, 'dist/client.js')
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], {
      env,
      cwd: folder,
    })
    return { code: 0, stdout, stderr }
  } catch (cause) {
    const { code, stdout, stderr } = cause as {
      readonly code: number
      readonly stdout: string
      readonly stderr: string
    }
    return { code, stdout, stderr }
  }
}

test('the client alone installs without a registry, has no libraries beside it, and the licences of those in it', async () => {
  expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'fairlead-client',
  ])
  const licences = readFileSync(join(installed, 'LICENSES-OF-LIBRARIES'), 'utf8')
  for (const library of ['commander', 'fflate', 'typebox'])
    expect(licences).toMatch(new RegExp(`^${library} \\d`, 'm'))
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))
  expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('before a user has signed in, what is said first can be done on this machine', async () => {
  expect(await run('databases', 'list')).toEqual({
    code: 7,
    stdout: '',
    stderr: expect.stringMatching(/^.*\n.* fairlead login --server https:.*\n$/),
  })
})

test('installed for all users of a machine, it is found by its name, and so is its man page', () => {
  const prefix = join(folder, 'global')
  execFileSync('npm', ['install', '--offline', '--global', '--prefix', prefix, packed], { stdio: 'ignore' })
  expect(readFileSync(join(prefix, 'share/man/man1/fairlead.1'), 'utf8')).toContain('.TH')
  const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder }
  expect(execFileSync(join(prefix, 'bin/fairlead'), ['--help'], { env, encoding: 'utf8' })).toContain('login')
})

test('the client alone signs in over HTTPS, creates a database, upgrades it and watches, on a machine without Fairlead', async () => {
  await using ports = await claimPorts()
  await using fairlead = await startFairlead({ env: { FAIRLEAD_HTTPS_PORT: String(ports.from) } })
  const here = commandLine({ FAIRLEAD_CONFIG: join(folder, 'none'), FAIRLEAD_HOME: fairlead.home })
  const fingerprint = (await here.run(['certificates', 'show', '--fingerprint'])).stdout.trim()
  const password = join(folder, 'password')
  writeFileSync(password, adminPassword, { mode: 0o600 })
  const server = `https://127.0.0.1:${ports.from}`
  const login = ['login', '--server', server, '--username', 'admin', '--password-file', password]
  expect(await run(...login, '--fingerprint', fingerprint)).toMatchObject({ code: 0 })

  const create = [
    'databases',
    'create',
    'carts',
    '--engine',
    'redis-7.0',
    '--memory',
    '100MiB',
    '--replication',
  ]
  expect(await run(...create)).toMatchObject({ code: 0 })
  const upgrade = [
    'databases',
    'upgrade',
    'carts',
    '--to',
    'valkey-8.1',
    '--rollback-window',
    '0',
    '--wait',
    'finalized',
    '--yes',
  ]
  expect(await run(...upgrade)).toMatchObject({ code: 0, stdout: expect.stringContaining('valkey 8.1') })
  const shown = await run('databases', 'list', '-o', 'json')
  expect(JSON.parse(shown.stdout)).toMatchObject([
    { name: 'carts', engine_version: expect.stringMatching(/^8\.1/) },
  ])
  expect((await run('actions', 'show', 'carts', '-o', 'yaml')).stdout).toContain('certificates:')
  expect(await run('doctor')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('FAIRLEAD_HOME') })
})

test('the client alone says where the commands of the machine are, and what to do without a server', async () => {
  for (const word of ['up', 'down', 'server', 'agent', 'logs', 'engines', 'store', 'keys'])
    expect(await run(word, 'anything', '--all')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`fairlead: ${word} is`),
    })
  expect((await run('--help')).stdout).not.toMatch(/^ {2}(up|engines)\b/m)
  const nowhere = await run('databases', 'list', '--profile', 'none')
  expect(nowhere).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('fairlead login') })
})
