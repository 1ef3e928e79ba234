import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createControlPlane, loadConfig } from '@fairlead/server'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
let server: AsyncDisposable
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'modules-'))
  const config = loadConfig({
    FAIRLEAD_HOME: join(folder, 'home'),
    FAIRLEAD_HTTP_PORT: '0',
    FAIRLEAD_HTTPS_PORT: '0',
    FAIRLEAD_ADMIN_PASSWORD: 'the-first-password',
  })
  server = await createControlPlane(config, { now: Date.now, log: pino({ level: 'silent' }) })
  await writeFile(join(folder, 'tally.c'), 'int RedisModule_OnLoad(void *ctx) { return ctx != 0; }')
  await promisify(execFile)('gcc', ['-shared', '-fPIC', '-o', 'tally.so', 'tally.c'], { cwd: folder })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function modules(...args: readonly string[]) {
  const main = join(import.meta.dirname, '../../../src/main.ts')
  const child = spawn(process.execPath, ['--conditions=@fairlead/source', main, 'modules', ...args], {
    env: { ...process.env, FAIRLEAD_HOME: join(folder, 'home'), FAIRLEAD_CONFIG: join(folder, 'config') },
    cwd: folder,
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}
const pack = (...args: readonly string[]) =>
  modules('pack', 'tally.so', '--name', 'tally', '-o', 'tally.zip', ...args)

test('a shared object is packed, uploaded, listed and deleted', async () => {
  expect(await modules('list')).toMatchObject({ code: 0, stdout: '' })
  await writeFile(join(folder, 'test.json'), '[{"command": ["TALLY.GET", "x"], "reply": null}]')
  const packed = await pack(
    ...['--version', '1.2.0', '--args', 'STEP 7', '--min-engine-version', '7.0', '--display-name', 'Tally'],
    ...['--capability', 'types', '--capability', 'clustering', '--self-test', 'test.json'],
  )
  expect(packed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tally\.zip has tally 1\.2\.0/) })
  const uploaded = await modules('upload', 'tally.zip')
  const [, uid = ''] = /is module ([0-9a-f]{32})\n$/.exec(uploaded.stdout) ?? []
  expect([uploaded.code, uid]).toEqual([0, expect.stringMatching(/./)])
  expect((await modules('list')).stdout).toMatch(new RegExp(`^${uid}\ttally\t1\\.2\\.0\t`))
  expect(JSON.parse((await modules('list', '--json')).stdout)).toMatchObject([
    {
      uid,
      module_name: 'tally',
      display_name: 'Tally',
      semantic_version: '1.2.0',
      version: 10_200,
      command_line_args: 'STEP 7',
      min_engine_version: '7.0',
      module_file: 'tally.so',
      capabilities: ['types', 'clustering'],
      self_test: [{ command: ['TALLY.GET', 'x'], reply: null }],
      size_bytes: (await readFile(join(folder, 'tally.so'))).length,
    },
  ])
  expect(await modules('rm', 'tally@1.2.0', '--yes')).toMatchObject({
    code: 0,
    stdout: `module ${uid} is deleted\n`,
  })
  expect((await modules('list', '--json')).stdout).toBe('[]\n')
})

test('a fault of the command line, of the file or of the package is reported in one line', async () => {
  const capability = await pack('--version', '1.0.0', '--capability', 'flying')
  expect([capability.code, capability.stderr]).toEqual([2, expect.stringContaining('there are types,')])
  expect(await modules('upload', 'nothing.zip')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/nothing\.zip: there is no such file/),
  })
  await pack('--version', '1.0')
  expect(await modules('upload', 'tally.zip')).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      /^fairlead: module\.json: semantic_version: must be major\.minor\.patch.*\n$/,
    ),
  })
  expect(await modules('delete', 'x', '--yes')).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(/^fairlead: module x does not exist\n.*\[module_not_exist\]\n$/),
  })
})
