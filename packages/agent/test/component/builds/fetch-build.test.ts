import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { connectEngine } from '@fairlead/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claimPorts } from '../../../../../proof/claim-ports.ts'
import { until } from '../../../../../proof/until.ts'
import { fetchBuild } from '../../../src/builds/fetch-build.ts'
import { FetchError } from '../../../src/builds/fetch-error.ts'

const hasApt = existsSync('/usr/bin/apt-get')
/** Keys that are not in use any more, from the same Debian package as the current ones. */
const oldKeys = '/usr/share/keyrings/debian-archive-removed-keys.gpg'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fetch build '))
})
afterEach(() => rm(folder, { recursive: true }))

async function faultOf(promise: Promise<unknown>): Promise<FetchError> {
  const cause = await promise.then(
    () => new Error('it was fetched'),
    (error: unknown) => error,
  )
  if (!(cause instanceof FetchError)) throw cause
  expect(cause.message).not.toContain('\n')
  return cause
}

test('an impossible engine or version is refused before anything is done', async () => {
  const unknown = await faultOf(fetchBuild({ flavour: 'postgres', folder }))
  expect(unknown.message).toBe('unknown engine "postgres": there are valkey, redis, redict')
  const odd = await faultOf(fetchBuild({ flavour: 'valkey', version: 'latest', folder }))
  expect(odd.message).toBe('not a version: "latest"; write it like 8.1 or 8.1.1')
  expect(await readdir(folder)).toEqual([])
})

test('a machine without apt is told what to do instead', async () => {
  const error = await faultOf(fetchBuild({ flavour: 'valkey', folder, env: { PATH: folder } }))
  expect(error.fault).toBe('no_apt')
  expect(error.message).toContain('PATH')
})

test('a build that is there is answered without apt and without the network', async () => {
  const program = join(folder, 'mine/bin/valkey-server')
  await mkdir(dirname(program), { recursive: true })
  await writeFile(program, '#!/bin/sh\necho "Valkey server v=8.1.7 sha=0"\n')
  await chmod(program, 0o755)
  const build = await fetchBuild({ flavour: 'valkey', version: '8.1', folder, env: { PATH: '/nowhere' } })
  expect(build).toEqual({ flavour: 'valkey', version: '8.1.7', source: 'folder', program })
})

test.runIf(hasApt)('a folder that cannot be written is named', async () => {
  await writeFile(join(folder, 'file'), '')
  const error = await faultOf(
    fetchBuild({ flavour: 'valkey', version: '8.1', folder: join(folder, 'file/x') }),
  )
  expect(error.message).toContain(`cannot write into ${join(folder, 'file/x')}`)
})

test.runIf(hasApt)('a missing keyring is named, with the package that contains it', async () => {
  const keyring = join(folder, 'none.gpg')
  const error = await faultOf(fetchBuild({ flavour: 'valkey', version: '8.1', folder, keyring }))
  expect(error.message).toContain('debian-archive-keyring')
})

test.runIf(hasApt)(
  'an archive that cannot be reached is reported in one line, and no file is left',
  async () => {
    const proxy = 'http://127.0.0.1:9'
    const env = { ...process.env, http_proxy: proxy, https_proxy: proxy }
    const error = await faultOf(fetchBuild({ flavour: 'valkey', version: '8.1', folder, env }))
    expect(error.fault).toBe('unreachable')
    expect(await readdir(folder)).toEqual([])
  },
)

test.runIf(hasApt)('a fetch that is stopped leaves no file', async () => {
  const stop = new AbortController()
  const fetching = fetchBuild({
    flavour: 'valkey',
    version: '8.1',
    folder,
    signal: stop.signal,
    // apt has just been started to read the lists, or is about to be.
    onProgress: () => setTimeout(() => stop.abort(new Error('enough')), 50),
  })
  await expect(fetching).rejects.toThrow('enough')
  expect(await readdir(folder)).toEqual([])
})

test.runIf(existsSync(oldKeys))('an archive signed with other keys is refused', async ({ skip }) => {
  const error = await faultOf(fetchBuild({ flavour: 'valkey', version: '8.0', folder, keyring: oldKeys }))
  if (error.fault === 'unreachable') skip(error.message)
  expect(error.fault).toBe('unsigned')
  expect(error.message).toContain('is not signed with a key of the keyring')
  expect(await readdir(folder)).toEqual([])
})

test.runIf(hasApt)('two fetches at once bring one build, which starts and answers', async ({ skip }) => {
  // The files that a killed fetch left there, before this machine started.
  await mkdir(join(folder, '.fetch-4194303-1-00000000-0000-0000-0000-000000000000-0123456789ab/debs'), {
    recursive: true,
  })
  const request = { flavour: 'redis', version: '7.0', folder }
  // Engines that run as other users can run the build, whatever the umask of the process that fetched it.
  const before = process.umask(0o077)
  const [first, second] = await Promise.allSettled([fetchBuild(request), fetchBuild(request)])
  process.umask(before)
  for (const end of [first, second]) {
    if (end.status === 'fulfilled') continue
    if (end.reason instanceof FetchError && end.reason.fault === 'unreachable') skip(end.reason.message)
    throw end.reason
  }
  if (first.status !== 'fulfilled' || second.status !== 'fulfilled') throw new Error('unreachable line')
  const build = first.value
  expect(second.value).toEqual(build)
  expect(build.version).toMatch(/^7\.0\.\d+$/)
  expect(await readdir(folder)).toEqual([`redis-${build.version}`])
  const place = join(folder, `redis-${build.version}`)
  expect((await readdir(join(place, 'bin'))).toSorted()).toEqual(
    ['benchmark', 'check-aof', 'check-rdb', 'cli', 'sentinel', 'server'].map((name) => `redis-${name}`),
  )
  expect((await stat(place)).mode & 0o777).toBe(0o755)
  if (process.geteuid?.() === 0) {
    await chmod(folder, 0o755)
    const nobody = { uid: 65_534, gid: 65_534 }
    const { stdout } = await promisify(execFile)(build.program, ['--version'], nobody)
    expect(stdout).toContain(build.version)
  }
  expect(await pingEngine(build.program)).toBe('PONG')
})

async function pingEngine(program: string): Promise<unknown> {
  await using ports = await claimPorts()
  const port = ports.from
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const engine = spawn(program, args, { stdio: 'ignore' })
  try {
    return await until('the engine answers', () => ping(port).catch(() => null))
  } finally {
    await end(engine)
  }
}

async function ping(port: number): Promise<unknown> {
  using engine = await connectEngine({
    address: { host: '127.0.0.1', port },
    login: { username: 'default', password: 'any' },
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
  return await engine.call('PING')
}

async function end(engine: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => engine.once('exit', resolve))
  engine.kill('SIGKILL')
  await gone
}
