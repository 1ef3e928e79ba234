import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FoundBuild, TrialRequest } from '@fairlead/api'
import { isEngineUser } from '@fairlead/engine'
import pino from 'pino'
import { expect, test } from 'vitest'
import { openEngineWall } from '../../../src/engine/engine-wall.ts'
import { stopAllShards } from '../../../src/stop-all-shards.ts'
import { makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { anyEngine, engines } from '../../engines.ts'

const probe = await mkdtemp(join(tmpdir(), 'wall-'))
const { missing } = await openEngineWall(probe, true, pino({ level: 'silent' }))
await rm(probe, { recursive: true })

const trialOf = (build: FoundBuild, wanted: Partial<TrialRequest> = {}): TrialRequest => ({
  build: { flavour: build.flavour, version: build.version },
  cluster: false,
  persistence: 'disabled',
  memoryBytes: 64 * 1024 * 1024,
  evictionPolicy: 'noeviction',
  aofFsync: 'everysec',
  snapshots: [],
  backlogBytes: 1024 * 1024,
  rdbVersionCheck: 'relaxed',
  modules: [],
  selfTest: [],
  ...wanted,
})

const kinds = engines.flatMap((engine) => [
  ...(['disabled', 'snapshot', 'aof'] as const).map((persistence) => ({
    engine,
    cluster: false,
    persistence,
  })),
  { engine, cluster: true, persistence: 'aof' as const },
])

test.for(kinds.map((kind) => ({ ...kind, name: `${kind.engine.flavour} ${kind.engine.version}` })))(
  'a build that works passes, and the trial leaves nothing: $name, cluster $cluster, $persistence',
  async ({ engine, cluster, persistence }) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const snapshots = [{ secs: 1, writes: 1 }]
    const body = trialOf(engine, { cluster, persistence, snapshots, aofFsync: 'always' })
    const result = await home.client.tryBuild({ body })
    expect(result).toMatchObject({ ok: true, why: '', version: engine.version })
    expect(result.startMs).toBeGreaterThan(0)
    expect(trialsIn(home)).toEqual([])
    expect(processesIn(home)).toEqual([])
    expect((await home.client.reportNode({})).shards).toEqual([])
  },
)

test('a build that does not start is reported in its own words, and a missing one with the way to get it', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const tried = (wanted: Partial<TrialRequest>) =>
    home.client.tryBuild({ body: trialOf(anyEngine(), wanted) })
  expect(await tried({ evictionPolicy: 'no-such-policy' })).toMatchObject({
    ok: false,
    why: expect.stringMatching(/^exit code 1: .*maxmemory-policy.*no-such-policy/),
  })
  expect(await tried({ build: { flavour: 'valkey', version: '0.0.1' } })).toEqual({
    ok: false,
    why: 'there is no build valkey 0.0.1 on this node; put it into the folder of builds or on PATH',
    startMs: 0,
    version: '',
  })
  expect([trialsIn(home), processesIn(home)]).toEqual([[], []])
})

test('a build with an unexpected version, or one that takes no write, fails', async () => {
  await using home = await makeHome()
  const engine = anyEngine()
  const posing = { ...engine, version: '99.0.1' }
  await using _ = await home.start({ builds: onlyBuild(posing) })
  expect(await home.client.tryBuild({ body: trialOf(posing) })).toMatchObject({
    ok: false,
    why: `it says of itself that its ${engine.flavour} version is ${engine.version}, not 99.0.1`,
    version: engine.version,
  })
  await using other = await makeHome()
  await using __ = await other.start()
  for (const cluster of [false, true]) {
    const full = await other.client.tryBuild({ body: trialOf(engine, { memoryBytes: 1, cluster }) })
    expect(full).toMatchObject({ ok: false, why: expect.stringMatching(/^OOM command not allowed/) })
  }
  expect([trialsIn(home), processesIn(home), trialsIn(other), processesIn(other)]).toEqual([[], [], [], []])
})

test('no more than two are tried at once, and the others have their turn', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  let [most, done] = [0, false]
  const watch = until(() => {
    most = Math.max(most, trialsIn(home).length)
    return done
  })
  const made = [1, 2, 3, 4, 5].map(() => home.client.tryBuild({ body: trialOf(anyEngine()) }))
  const results = await Promise.all(made)
  done = true
  await watch
  expect(results.map(({ ok, why }) => [ok, why])).toEqual(made.map(() => [true, '']))
  expect(most).toBe(2)
})

test('a trial ends when its caller has gone, and when its agent ends', async () => {
  await using home = await makeHome()
  const stuck = await makeProgram(home, 'stuck', 'exec sleep 60')
  {
    await using _ = await home.start({ builds: onlyBuild(stuck) })
    const leave = await askAndLeave(home, trialOf(stuck))
    await until(() => processesIn(home).length === 1)
    leave()
    await until(() => trialsIn(home).length === 0)
    expect(processesIn(home)).toEqual([])

    await askAndLeave(home, trialOf(stuck))
    await until(() => processesIn(home).length === 1)
  }
  expect([trialsIn(home), processesIn(home)]).toEqual([[], []])
  expect(home.logged()).not.toContain('agent request failed')
})

test('processes and files of a trial that a killed agent has left are removed by the next agent, or with all shards', async () => {
  await using home = await makeHome()
  for (const next of ['agent', 'stop'] as const) {
    const agent = await killDuringTrial(home)
    expect(agent.signalCode).toBe('SIGKILL')
    expect(trialsIn(home)).toHaveLength(1)
    expect(processesIn(home)).toHaveLength(1)
    if (next === 'agent') {
      await using _ = await home.start()
      expect([trialsIn(home), processesIn(home)]).toEqual([[], []])
    } else await stopAllShards(home.path, home.logger, AbortSignal.timeout(60_000))
    expect([trialsIn(home), processesIn(home)]).toEqual([[], []])
  }
})

test.runIf(missing === null)('the same within a wall, where the engine is another user', async () => {
  await using home = await makeHome()
  // A minute, in steps that a machine under load answers in time, too.
  const selfTest = Array.from({ length: 300 }, () => ({ command: ['BLPOP', 'none', '0.2'] }))
  const agent = startAgent(home, 'wall')
  try {
    await until(() => answers(home))
    await askAndLeave(home, trialOf(anyEngine(), { selfTest }))
    await until(() => trialsIn(home).length > 0)
    const port = Number.parseInt(trialsIn(home)[0] ?? '', 10)
    await until(() => serves(port))
  } finally {
    agent.kill('SIGKILL')
  }
  await once(agent, 'exit')
  const engines = processesIn(home)
  expect(engines).toHaveLength(1)
  if (process.geteuid?.() === 0) expect(isEngineUser(ownerOfProcessIn(home))).toBe(true)
  await using _ = await home.start()
  expect([trialsIn(home), processesIn(home)]).toEqual([[], []])
})

test('a trial does not touch the shards of its node', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  await home.client.putShard({ params: { id: 'a-1' }, body: await makeSpec() })
  const { pid, startedAt, port } = await home.becomes('a-1', { state: 'running' })
  expect((await home.client.tryBuild({ body: trialOf(anyEngine()) })).ok).toBe(true)
  const { shards } = await home.client.reportNode({})
  expect(shards).toMatchObject([
    { id: 'a-1', state: 'running', revision: 'first', crashes: 0, pid, startedAt, port },
  ])
})

/**
 * Kills an agent whose trial has not ended yet, and waits until the engine that it has started serves, which
 * is after that.
 */
async function killDuringTrial(home: TestHome): Promise<ChildProcess> {
  const killed = join(home.path, 'killed')
  await rm(killed, { force: true })
  const wait = `until [ -e ${killed} ]; do sleep 0.05; done`
  const slow = await makeProgram(home, 'slow', `${wait}\nexec ${anyEngine().program} "$@"`)
  const agent = startAgent(home, 'no-wall', { FAIRLEAD_ENGINES: join(home.path, 'builds') })
  try {
    await until(() => answers(home))
    await askAndLeave(home, trialOf(slow))
    await until(() => processesIn(home).length > 0)
  } finally {
    agent.kill('SIGKILL')
  }
  await once(agent, 'exit')
  await writeFile(killed, '')
  const port = Number.parseInt(trialsIn(home)[0] ?? '', 10)
  await until(() => serves(port))
  return agent
}

function startAgent(home: TestHome, wall: 'wall' | 'no-wall', env: NodeJS.ProcessEnv = {}): ChildProcess {
  const program = fileURLToPath(new URL('../../run-agent.ts', import.meta.url))
  const args = ['--conditions=@fairlead/source', program, home.path, home.socketPath, 'null', wall]
  const stdio = ['ignore', 'inherit', 'inherit'] as const
  return spawn(process.execPath, args, { stdio: [...stdio], env: { ...process.env, ...env } })
}

async function answers(home: TestHome): Promise<boolean> {
  return await home.client.reportNode({}).then(
    () => true,
    () => false,
  )
}

/** Asks for a trial on a connection of its own. Returns the request, so that the test can close it. */
async function askAndLeave(home: TestHome, body: TrialRequest): Promise<() => void> {
  const headers = { 'content-type': 'application/json' }
  const sent = request({
    socketPath: home.socketPath,
    method: 'POST',
    path: '/agent/trials',
    headers,
    agent: false,
  })
  // The test closes the connection.
  sent.on('error', () => undefined)
  sent.end(JSON.stringify(body))
  await once(sent, 'finish')
  return () => sent.destroy()
}

/** A build in the folder of builds of this home that is a script. */
async function makeProgram(home: TestHome, name: string, script: string): Promise<FoundBuild> {
  const { flavour, version } = anyEngine()
  const folder = join(home.path, 'builds', `${flavour}-${version}`, 'bin')
  await mkdir(folder, { recursive: true })
  const program = join(folder, `${flavour}-server`)
  await writeFile(program, `#!/bin/sh\n# ${name}\n${script}\n`, { mode: 0o755 })
  return { flavour, version, source: 'folder', program }
}

function onlyBuild(build: FoundBuild) {
  return { list: () => Promise.resolve([build]), find: () => Promise.resolve(build) }
}

function trialsIn(home: TestHome): string[] {
  const folder = join(home.path, 'trials', 'shards')
  return existsSync(folder) ? readdirSync(folder) : []
}

/** Connects, and does not bind: an engine that finds its port taken at its start ends. */
async function serves(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  const served = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return served
}

/** The processes that work in the folder of a trial, though it be deleted by now. */
function processesIn(home: TestHome): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readPlace)
    .filter((place) => place.startsWith(join(home.path, 'trials')))
}

function ownerOfProcessIn(home: TestHome): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const pid = pids.find((each) => readPlace(each).startsWith(join(home.path, 'trials')))
  return statSync(`/proc/${pid}`).uid
}

function readPlace(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    // It ended while we looked.
    return ''
  }
}
