import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  findEngineProcess,
  identifyProcess,
  isAlive,
  parseStat,
  signalProcess,
} from '../../../src/process/process-identity.ts'
import { until } from '../../agent-home.ts'

test('a process whose name looks like the rest of the line is read correctly', () => {
  const rest = '7 1 1 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 4 0 123456 1000 50'
  expect(parseStat(`42 (a) Z 1 (b c)) S ${rest}\n`)).toEqual({
    state: 'S',
    parent: 7,
    ticks: 3,
    startTime: '123456',
  })
})

test('another process with the pid of a dead one is neither taken for it nor signalled', async () => {
  const child = spawn('sleep', ['60'])
  using _ = endLater(child)
  await once(child, 'spawn')
  const now = identifyProcess(child.pid ?? 0)
  if (!now) throw new Error('unreachable')
  expect(isAlive(now)).toBe(true)
  for (const before of [
    { ...now, startTime: '1' },
    { ...now, bootId: 'of another boot' },
  ]) {
    expect(isAlive(before)).toBe(false)
    expect(signalProcess(before, 'SIGKILL')).toBe(false)
  }
  expect(isAlive(now)).toBe(true)

  expect(signalProcess(now, 'SIGKILL')).toBe(true)
  await once(child, 'exit')
  expect(isAlive(now)).toBe(false)
  expect(signalProcess(now, 'SIGKILL')).toBe(false)
})

test('an unrecorded engine is found by its folder, and no other process of that folder is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-'))
  const conf = join(folder, 'engine.conf')
  // Like an engine it has a fork; the folder is also the working directory of a person's shell.
  const engine = spawn('sh', ['-c', 'sleep 60; true', conf], { cwd: folder, detached: true })
  using _ = endLater(engine)
  const person = spawn('sleep', ['60'], { cwd: folder })
  using __ = endLater(person)
  await until(() => findEngineProcess(folder, conf, 7000) !== null)
  expect(findEngineProcess(folder, conf, 7000)?.pid).toBe(engine.pid)
  expect(findEngineProcess(join(folder, 'other'), conf, 7000)).toBeNull()
  expect(findEngineProcess(folder, join(folder, 'other.conf'), 7000)).toBeNull()
  await rm(folder, { recursive: true })
})

test('a process in a folder whose path is too long hides no other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-'))
  const dig = `for (let n = 0; n < 50; n++) { fs.mkdirSync('${'d'.repeat(100)}'); process.chdir('${'d'.repeat(100)}') } console.log('there'); setTimeout(() => {}, 60_000)`
  const deep = spawn(process.execPath, ['-e', dig], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  using _ = endLater(deep)
  await once(deep.stdout, 'data')
  expect(() => readlinkSync(`/proc/${deep.pid}/cwd`)).toThrow('ENAMETOOLONG')
  expect(findEngineProcess(folder, '--none', 7000)).toBeNull()
  const engine = spawn('sh', ['-c', 'sleep 60; true', '--one'], { cwd: folder, detached: true })
  using __ = endLater(engine)
  await until(() => findEngineProcess(folder, '--one', 7000)?.pid === engine.pid)
  // Node removes nothing that deep.
  spawnSync('rm', ['-rf', folder])
})

function endLater(child: ChildProcess): Disposable {
  return { [Symbol.dispose]: () => void child.kill('SIGKILL') }
}
