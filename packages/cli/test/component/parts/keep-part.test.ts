import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepPart, ownCommand } from '../../../src/parts/keep-part.ts'

// Files of a worker share modules: load them with the mock here, and again for the next file.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())
vi.mock('node:timers/promises', async (original) => {
  const timers = await original<typeof import('node:timers/promises')>()
  return { ...timers, setTimeout: vi.fn(timers.setTimeout) }
})
const { setTimeout: real } =
  await vi.importActual<typeof import('node:timers/promises')>('node:timers/promises')

let folder: string
const program = process.argv[1] ?? ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairlead-'))
})
afterEach(async () => {
  process.argv[1] = program
  vi.mocked(pause).mockImplementation(real)
  await rm(folder, { recursive: true })
})

test('a part that keeps dying is restarted each time, after growing pauses, and can be stopped during a pause', async () => {
  // The sixth pause would end long after the test.
  vi.mocked(pause).mockImplementation((ms = 0, value, options) =>
    real(ms === 6_400 ? 3_600_000 : ms / 20, value, options),
  )
  const main = join(folder, 'main.mjs')
  await writeFile(main, 'process.send({}); process.disconnect(); process.exitCode = 3')
  process.argv[1] = main
  const deaths: unknown[] = []
  const write = (line: string) => {
    const { name, deaths: count, how, afterMs } = JSON.parse(line)
    deaths.push({ name, count, how, afterMs })
  }
  const part = await keepPart('agent', ownCommand('agent', {}), pino({ base: null }, { write }), {
    stop: new AbortController().signal,
  })
  await vi.waitUntil(() => deaths.length >= 6, { timeout: 60_000, interval: 20 })
  await part[Symbol.asyncDispose]()
  expect(deaths).toEqual(
    [200, 400, 800, 1_600, 3_200, 6_400].map((afterMs, n) => ({
      name: 'agent',
      count: n + 1,
      how: 'exit code 3',
      afterMs,
    })),
  )
})

test('a part that cannot be restarted is tried repeatedly: its program may be missing for a moment', async () => {
  vi.mocked(pause).mockImplementation((ms = 0, value, options) => real(ms / 20, value, options))
  const program = join(folder, 'part')
  const code = `#!${process.execPath}\nprocess.send({}); process.disconnect(); process.exitCode = 3`
  const there = () => writeFile(program, code, { mode: 0o700 })
  await there()
  const deaths: string[] = []
  const log = pino({ base: null }, { write: (line) => deaths.push(JSON.parse(line).how) })
  const command = { program, args: [], env: process.env, isOther: false }
  const part = await keepPart('agent', command, log, { stop: new AbortController().signal })
  await rm(program)
  const isAway = (how: string) => how.includes('ENOENT')
  await vi.waitUntil(() => deaths.filter(isAway).length >= 2, { timeout: 60_000, interval: 20 })
  await there()
  const ranAgain = () => deaths.lastIndexOf('exit code 3') > deaths.findLastIndex(isAway)
  await vi.waitUntil(ranAgain, { timeout: 60_000, interval: 20 })
  await part[Symbol.asyncDispose]()
})

test.each([
  ['is stopped by another program', "process.kill(process.pid, 'SIGTERM')", 'was stopped by another program'],
  ['ends in order', 'process.exit(0)', 'was stopped by another program'],
  ['is killed', "process.kill(process.pid, 'SIGKILL')", 'died'],
])('a part that %s is started again, and the log says which it was', async (_, end, words) => {
  const main = join(folder, 'main.mjs')
  await writeFile(main, `process.send({}, () => ${end}); setInterval(() => undefined, 1_000)`)
  process.argv[1] = main
  const said: string[] = []
  const log = pino({ base: null }, { write: (line) => said.push(JSON.parse(line).msg) })
  await using _part = await keepPart('agent', ownCommand('agent', {}), log, {
    stop: new AbortController().signal,
  })
  await vi.waitUntil(() => said.length >= 2, { timeout: 60_000, interval: 20 })
  expect(said[0]).toContain(words)
})

test('a part that cannot be started at all says why', async () => {
  const command = { program: join(folder, 'nothing'), args: [], env: {}, isOther: true }
  const stop = new AbortController().signal
  await expect(keepPart('server', command, pino({ level: 'silent' }), { stop })).rejects.toThrow('ENOENT')
})

test('a slow part is waited for, and the log says so; a stop ends the wait and the part', async () => {
  const main = join(folder, 'main.mjs')
  const pidFile = join(folder, 'pid')
  await writeFile(
    main,
    `import { writeFileSync } from 'node:fs'
    process.on('SIGTERM', () => process.exit(0))
    setInterval(() => undefined, 1_000)
    writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))`,
  )
  process.argv[1] = main
  const said: string[] = []
  const log = pino({ base: null }, { write: (line) => said.push(JSON.parse(line).msg) })
  const stop = new AbortController()
  const kept = keepPart('server', ownCommand('server', {}), log, { stop: stop.signal, sayEveryMs: 20 })
  kept.catch(() => undefined) // it is asked below
  await vi.waitUntil(() => said.length >= 3 && existsSync(pidFile), { timeout: 60_000, interval: 20 })
  expect(new Set(said)).toEqual(new Set(['it is not ready yet; its own lines say what it waits for']))
  stop.abort()
  await expect(kept).rejects.toThrow('asked to stop before the server was ready')
  const pid = Number(await readFile(pidFile, 'utf8'))
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})
