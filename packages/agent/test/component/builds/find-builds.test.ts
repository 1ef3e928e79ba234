import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBuildFinder } from '../../../src/builds/find-builds.ts'
import { identifyProcess } from '../../../src/process/process-identity.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'find-builds-'))
})
afterEach(() => rm(home, { recursive: true }))

/** A program that answers `--version` as an engine of this version does, after what `before` does. */
async function placeProgram(file: string, says: string, before = ''): Promise<string> {
  const path = join(home, file)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${before}\necho '${says} sha=00000000:0 malloc=libc bits=64'\n`)
  await chmod(path, 0o755)
  return path
}

const finderOf = (path = '') => createBuildFinder({ path, folder: join(home, 'engines') })

test('the real builds of this repository are found, each with its flavour and version', async () => {
  const folder =
    process.env['FAIRLEAD_ENGINES'] ?? join(import.meta.dirname, '../../../../../.fairlead/engines')
  const finder = createBuildFinder({ path: '', folder })
  const builds = await finder.list()
  expect(builds.length).toBeGreaterThan(0)
  for (const build of builds) {
    expect(build.program).toContain(`${build.flavour}-server`)
    expect(await finder.find({ flavour: build.flavour, version: build.version })).toEqual(build)
  }
})

test('builds are listed by flavour and version, and one that is found twice is taken from the folder', async () => {
  const inFolder = await placeProgram('engines/new/bin/valkey-server', 'Valkey server v=8.1.10')
  const older = await placeProgram('engines/old/bin/valkey-server', 'Valkey server v=8.1.9')
  await placeProgram('bin/valkey-server', 'Valkey server v=8.1.10')
  const redis = await placeProgram('bin/redis-server', 'Redis server v=7.0.15')
  expect(await finderOf(`${join(home, 'bin')}:relative:`).list()).toEqual([
    { flavour: 'redis', version: '7.0.15', source: 'path', program: redis },
    { flavour: 'valkey', version: '8.1.9', source: 'folder', program: older },
    { flavour: 'valkey', version: '8.1.10', source: 'folder', program: inFolder },
  ])
})

test('without a folder and with an empty path there are no builds and no trouble', async () => {
  expect(await finderOf().list()).toEqual([])
  expect(await finderOf().listBroken()).toEqual([])
})

test('unfinished builds, whose names begin with a dot, are ignored', async () => {
  await placeProgram('engines/.fetch-1/bin/valkey-server', 'Valkey server v=8.1.1')
  expect(await finderOf().list()).toEqual([])
})

test('a file is asked for its version once, and again when it has been replaced', async () => {
  const asked = join(home, 'asked')
  const count = `echo >> '${asked}'`
  const program = await placeProgram('engines/a/bin/valkey-server', 'Valkey server v=8.1.1', count)
  const finder = finderOf()
  await finder.list()
  expect((await finder.list())[0]?.version).toBe('8.1.1')
  expect((await readFile(asked, 'utf8')).length).toBe(1)
  await placeProgram('engines/a/bin/valkey-server', 'Valkey server v=8.1.20', count)
  expect((await finder.list())[0]?.version).toBe('8.1.20')
  await rm(program)
  expect(await finder.list()).toEqual([])
})

test('programs without a valid answer hide no others, are listed with the reason, and are killed', async () => {
  const good = await placeProgram('engines/good/bin/valkey-server', 'Valkey server v=8.1.1')
  const pidFile = join(home, 'pid')
  await placeProgram('engines/hangs/bin/valkey-server', 'never', `echo $$ > '${pidFile}'; exec sleep 600`)
  await placeProgram('engines/alien/bin/redis-server', 'postgres (PostgreSQL) 15.18')
  await placeProgram('engines/crashes/bin/redis-server', 'Redis server v=7.0.15', 'kill -SEGV $$')
  const locked = await placeProgram('engines/locked/bin/redis-server', 'Redis server v=7.0.15')
  await chmod(locked, 0o644)
  const finder = finderOf()
  expect((await finder.list()).map(({ program }) => program)).toEqual([good])
  expect(existsSync(pidFile)).toBe(true)
  expect(identifyProcess(Number(await readFile(pidFile, 'utf8')))).toBeNull()
  expect((await finder.listBroken()).map(({ why }) => why)).toEqual([
    expect.stringContaining('is no engine we know; it says: postgres'),
    expect.stringContaining('says nothing'),
    'gave no version within 3 s',
    expect.stringContaining('cannot be started'),
  ])
})

test('an aborted search ends with the reason, and waits for no program', async () => {
  // More than are asked at a time: the last ones would be asked after the deadline of the first ones.
  const names = Array.from({ length: 6 }, (_, n) => `hangs-${n}`)
  for (const name of names)
    await placeProgram(
      `engines/${name}/bin/valkey-server`,
      'never',
      `touch '${join(home, name)}'; exec sleep 600`,
    )
  await expect(finderOf().list(AbortSignal.timeout(200))).rejects.toThrow('timeout')
  expect(names.filter((name) => existsSync(join(home, name))).length).toBeLessThanOrEqual(4)
})
