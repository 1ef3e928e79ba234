import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engines-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Runs `fairlead engines …` on the folder, with nothing on PATH but the system's own programs. */
async function engines(args: readonly string[], onOutput: (pid: number) => void = () => undefined) {
  const main = join(import.meta.dirname, '../../../src/main.ts')
  const env = { ...process.env, FAIRLEAD_ENGINES: folder, FAIRLEAD_HOME: folder, PATH: '/usr/bin:/bin' }
  const child = spawn(process.execPath, ['--conditions=@fairlead/source', main, 'engines', ...args], { env })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
    if (child.pid !== undefined) onOutput(child.pid)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}

async function placeProgram(name: string, text: string): Promise<string> {
  const program = join(folder, name)
  await mkdir(dirname(program), { recursive: true })
  await writeFile(program, `#!/bin/sh\n${text}\n`)
  await chmod(program, 0o755)
  return program
}

test('builds are listed for people and for programs, and broken builds are named separately', async () => {
  const program = await placeProgram('a/bin/valkey-server', 'echo "Valkey server v=9.1.2 sha=0"')
  await writeFile(join(folder, 'a/META'), 'debian=9.1.2-1\nsuite=sid\n')
  const broken = await placeProgram('b/bin/valkey-server', 'echo nonsense')
  const people = await engines(['list'])
  expect(people.stdout).toMatch(/^FLAVOUR +VERSION +SOURCE +SUITE +KNOWN HOLES +PROGRAM\n/)
  expect(people.stdout).toMatch(/^valkey +9\.1\.2 +folder +sid +0 /m)
  expect(people.stdout).toContain(`${program}\n`)
  const programs = await engines(['list', '--json'])
  expect(JSON.parse(programs.stdout)).toContainEqual({
    flavour: 'valkey',
    version: '9.1.2',
    source: 'folder',
    program,
    package: '9.1.2-1',
    suite: 'sid',
    known_holes: [],
  })
  expect(programs.stderr).toBe(`fairlead: left out ${broken}: it is no engine we know; it says: nonsense\n`)
  expect([people.code, programs.code]).toEqual([0, 0])
})

test('a fetch of a build that is already there prints its path', async () => {
  const program = await placeProgram('a/bin/valkey-server', 'echo "Valkey server v=9.1.2 sha=0"')
  expect(await engines(['fetch', 'valkey', '9.1'])).toEqual({
    code: 0,
    stdout: `valkey 9.1.2 is here: ${program}\n`,
    stderr: '',
  })
})

test('known holes of a build are counted, and those that let clients run code in it are printed', async () => {
  await placeProgram('a/bin/valkey-server', 'echo "Valkey server v=8.0.1 sha=0"')
  const { stdout } = await engines(['list'])
  expect(stdout).toMatch(/^valkey +8\.0\.1 +folder +[1-9]\d* /m)
  expect(stdout).toContain('Clients can run code in valkey 8.0.1, so new databases do not run it:\n')
  expect(stdout).toContain('  CVE-2025-49844  a Lua script runs code in the engine')
  const fetched = await engines(['fetch', 'valkey', '8.0'])
  expect([fetched.code, fetched.stderr]).toEqual([0, expect.stringContaining('CVE-2025-49844')])
})

test('a failed fetch prints one line and exits with 1', async () => {
  expect(await engines(['fetch', 'postgres'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'fairlead: unknown engine "postgres": there are valkey, redis, redict\n',
  })
})

test.runIf(existsSync('/usr/bin/apt-get'))('a fetch stopped with Ctrl-C leaves nothing', async () => {
  const end = await engines(['fetch', 'valkey', '8.1'], (pid) => process.kill(pid, 'SIGINT'))
  expect([end.code, end.stderr]).toEqual([130, 'fairlead: stopped; nothing was left behind\n'])
  expect(await readdir(folder)).toEqual([])
})
