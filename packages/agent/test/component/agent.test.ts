import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, socketTransport, type TestHome, until } from '../agent-home.ts'
import { anyEngine, engines, everyEngine } from '../engines.ts'

test.for(engines.map(({ flavour, version }) => ({ flavour, version })))(
  'a shard that is put runs and answers, and so does its next revision: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build })

    const began = performance.now()
    const put = await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    expect(put.state).toBe('starting')
    const running = await home.becomes('a-1', { state: 'running' })
    const startMs = performance.now() - began
    using admin = await connectAs('fairlead', spec)
    expect(await admin.info('server')).toContain(`process_id:${running.pid}`)

    const again = performance.now()
    await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision: 'second' } })
    const restarted = await home.becomes('a-1', { state: 'running', revision: 'second' })
    const restartMs = performance.now() - again
    expect([restarted.pid === running.pid, restarted.crashes]).toEqual([false, 0])
    console.log(
      `${build.flavour} ${build.version}: start ${startMs.toFixed()} ms, restart ${restartMs.toFixed()} ms`,
    )
  },
)

test('the same spec again, or one that differs only in values for the next start, does not touch the process', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  const before = await home.becomes('a-1', { state: 'running' })

  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  await home.client.putShard({
    params: { id: 'a-1' },
    body: { ...spec, onCrash: 'wait', replicaOf: { host: '127.0.0.1', port: 1 } },
  })

  expect(await home.shard('a-1')).toMatchObject({ state: 'running', pid: before.pid })
  expect(await readFile(join(home.path, 'shards', 'a-1', 'wanted.json'), 'utf8')).toContain('"wait"')
})

test('engines go on serving when their agent is killed, and the next agent adopts them without a restart', async () => {
  await using home = await makeHome()
  const spec = await makeSpec()
  const agent = await startAgentProcess(home)
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  const before = await home.becomes('a-1', { state: 'running' })
  using client = await connectAs('default', spec)
  await client.call('SET', 'key', 'value')

  agent.kill('SIGKILL')
  await once(agent, 'exit')
  expect(await client.call('GET', 'key')).toBe('value')

  await using _ = await home.start()
  const after = await home.becomes('a-1', { state: 'running' })
  // Each agent reads the disk and the log itself, a moment later.
  const seenLater = { disk: null, lastLogLine: '' }
  expect({ ...after, ...seenLater }).toEqual({ ...before, ...seenLater })
  expect(await client.call('GET', 'key')).toBe('value')
})

test('a shard that was put before cluster mode and modules existed is adopted without a restart', async () => {
  await using home = await makeHome()
  const spec = await makeSpec()
  {
    await using _ = await home.start()
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    await home.becomes('a-1', { state: 'running' })
  }
  for (const name of ['wanted.json', 'process.json']) {
    const file = join(home.path, 'shards', 'a-1', name)
    const text = await readFile(file, 'utf8')
    const before = ['"cluster": false,', '"rdbVersionCheck": "strict",', '"modules": [],'].reduce(
      (rest, part) => rest.replace(part, ''),
      text,
    )
    expect(before.length).toBeLessThan(text.length - 55)
    await writeFile(file, before)
  }

  await using _ = await home.start()
  const { pid } = await home.becomes('a-1', { state: 'running', crashes: 0 })
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  expect(await home.shard('a-1')).toMatchObject({ state: 'running', pid })
})

test('a process that was started but not yet recorded when the agent died is found again', async () => {
  await using home = await makeHome()
  const spec = await makeSpec()
  let pid: number | null
  {
    await using _ = await home.start()
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    pid = (await home.becomes('a-1', { state: 'running' })).pid
  }
  const file = join(home.path, 'shards', 'a-1', 'process.json')
  const record: object = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...record, identity: null, answeredAt: null, proven: false }))

  await using _ = await home.start()
  expect(await home.becomes('a-1', { state: 'running' })).toMatchObject({ pid, crashes: 0 })
})

test('a process that died while no agent ran counts as a crash', async () => {
  await using home = await makeHome()
  const specs = { restart: await makeSpec(), wait: await makeSpec({ onCrash: 'wait' }) }
  const pids: (number | null)[] = []
  {
    await using _ = await home.start()
    for (const [id, body] of Object.entries(specs)) {
      await home.client.putShard({ params: { id }, body })
      pids.push((await home.becomes(id, { state: 'running' })).pid)
    }
  }
  for (const pid of pids) process.kill(pid ?? 0, 'SIGKILL')
  await until(() => pids.every((pid) => !existsSync(`/proc/${pid}/fd/0`)))

  await using _ = await home.start()
  await home.becomes('restart', { state: 'running', crashes: 1 })
  const waits = await home.becomes('wait', { state: 'exited', crashes: 1 })
  expect(waits.why).toContain('waits until the server orders its start')
})

test('a removed shard is gone with its data, and removing it again is no error', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  const { pid } = await home.becomes('a-1', { state: 'running' })

  expect(await home.client.removeShard({ params: { id: 'a-1' } })).toEqual({ id: 'a-1' })
  await until(async () => (await home.shard('a-1')) === undefined)
  expect(readdirSync(join(home.path, 'shards'))).toEqual([])
  expect(existsSync(`/proc/${pid}/fd/0`)).toBe(false)
  expect(await home.client.removeShard({ params: { id: 'a-1' } })).toEqual({ id: 'a-1' })

  const never = await makeSpec({ build: { flavour: 'valkey', version: '0.0.1' } })
  await home.client.putShard({ params: { id: 'a-2' }, body: never })
  await home.client.removeShard({ params: { id: 'a-2' } })
  await until(async () => (await home.shard('a-2')) === undefined)
})

test('two agents never act on one socket, and the socket of a dead agent is replaced', async () => {
  await using home = await makeHome()
  const agent = await startAgentProcess(home)
  await expect(home.start()).rejects.toThrow(`another agent runs on ${home.socketPath}`)
  agent.kill('SIGKILL')
  expect(existsSync(home.socketPath)).toBe(true)
  await using _ = await home.start()
  expect((await home.client.reportNode({})).shards).toEqual([])
})

test('a socket path that is too long for Linux is refused', async () => {
  await using home = await makeHome()
  const socketPath = join(home.path, 'x'.repeat(100), 'agent.sock')
  await expect(home.start({ socketPath })).rejects.toThrow(/bytes, Linux allows 107.*shorter FAIRLEAD_HOME/)
})

test('only the owner can reach the socket and read the folder of a shard', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  await home.client.putShard({ params: { id: 'a-1' }, body: await makeSpec() })
  await home.becomes('a-1', { state: 'running' })
  const mode = (...names: string[]) => (statSync(join(home.path, ...names)).mode & 0o777).toString(8)
  expect([mode('run'), mode('run', 'agent.sock'), mode('shards'), mode('shards', 'a-1')]).toEqual([
    '700',
    '600',
    '700',
    '700',
  ])
  const files = [
    'wanted.json',
    'process.json',
    'baseline.json',
    'engine.conf',
    'users/users.acl',
    'engine.log',
  ]
  expect(files.map((name) => mode('shards', 'a-1', name))).toEqual(files.map(() => '600'))
})

test('no secret is in a process list, an environment, a report or a log', async () => {
  await using home = await makeHome()
  // An engine overwrites its environment with its title, so a wrapper program records the environment before.
  const program = join(home.path, 'show-environment')
  await writeFile(program, `#!/bin/sh\nenv > environment\nexec ${anyEngine().program} "$@"\n`, {
    mode: 0o755,
  })
  const found = { ...anyEngine(), program }
  const builds = { list: () => Promise.resolve([found]), find: () => Promise.resolve(found) }
  // It writes to a place that an engine within a wall cannot reach.
  await using _ = await home.start({ builds, engineWall: false })
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  await home.becomes('a-1', { state: 'running' })
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readOr(`/proc/${name}/cmdline`))
  await home.client.putShard({
    params: { id: 'a-1' },
    body: { ...spec, revision: 'x', evictionPolicy: 'no' },
  })
  await home.becomes('a-1', { state: 'failed' })

  const shown = [
    ...processes,
    home.logged(),
    readOr(join(home.path, 'shards', 'a-1', 'engine.log')),
    readOr(join(home.path, 'shards', 'a-1', 'users', 'users.acl')),
    JSON.stringify(await home.client.reportNode({})),
  ].join('\n')
  const environment = readOr(join(home.path, 'shards', 'a-1', 'environment'))
  expect(environment.match(/^\w+(?==)/gm)?.toSorted()).toEqual(['PATH', 'PWD'])
  expect(shown).toContain(`:${spec.port}`)
  expect(shown).not.toContain(spec.adminPassword)
  expect(shown).not.toContain(spec.userPassword)
})

test('an invalid spec is refused with the name of the field, and no value is coerced or dropped', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec()
  const put = async (body: unknown, id = 'a-1') => {
    const path = `/agent/shards/${id}`
    const headers = { 'content-type': 'application/json' }
    const request = { method: 'PUT', path, headers, body: JSON.stringify(body) }
    const { status, text } = await socketTransport(home.socketPath)(request)
    return [status, JSON.parse(text).message]
  }
  expect(await put({ ...spec, port: '7000' })).toEqual([400, 'port must be integer'])
  expect(await put({ ...spec, prot: 1 })).toEqual([400, 'unknown field: prot'])
  expect(await put({ ...spec, onCrash: 'maybe' })).toEqual([
    400,
    'onCrash must be equal to one of the allowed values: restart, wait',
  ])
  expect(await put({ ...spec, revision: undefined })).toEqual([400, "must have required property 'revision'"])
  expect((await put(spec, 'Not_An_Id'))[0]).toBe(400)
  expect((await put(spec, '..%2f..%2fx'))[0]).toBe(400)
  expect((await home.client.reportNode({})).shards).toEqual([])
})

test('the report says what the node has and lists shards by id', async () => {
  await using home = await makeHome()
  await using _ = await home.start({ memoryLimitBytes: 64 * 1024 * 1024 })
  for (const id of ['b-2', 'a-1']) await home.client.putShard({ params: { id }, body: await makeSpec() })
  await home.becomes('b-2', { state: 'running' })
  await home.becomes('a-1', { state: 'running' })
  const report = await home.client.reportNode({})
  expect(report).toMatchObject({ uid: 1, host: '127.0.0.1', memoryTotalBytes: 64 * 1024 * 1024 })
  expect(report.shards.map(({ id }) => id)).toEqual(['a-1', 'b-2'])
  const isCounted = async () =>
    (await home.client.reportNode({})).memoryFreeBytes < report.memoryTotalBytes - 4 * 1024 * 1024
  await until(isCounted)
  expect(report.memoryFreeBytes).toBeGreaterThan(0)
  expect(report.cores).toBeGreaterThan(0)
  expect(report.diskFreeBytes).toBeGreaterThan(0)
  expect(await home.client.listBuilds({})).toEqual(everyEngine)
})

test('a free port has no listener, belongs to no shard, and is not excluded by the caller', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec({ build: { ...anyEngine(), version: '0.0.1' } })
  const from = spec.port
  await home.client.putShard({
    params: { id: 'a-1' },
    body: { ...spec, build: { flavour: 'x', version: '1.0.0' } },
  })
  await using taken = createServer()
  await new Promise<void>((done) => taken.listen(from + 1, '127.0.0.1', done))
  const found = await home.client.findFreePort({
    body: { from, to: from + 9, except: [from + 2], alsoFree: [] },
  })
  expect(found.port).toBe(from + 3)
  expect(await home.client.findFreePort({ body: { from, to: from + 1, except: [], alsoFree: [] } })).toEqual({
    port: null,
  })
})

test('a port is free only if the ports at the distances asked for are so too', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { port: from } = await makeSpec({ cluster: true })
  const find = async (range: { from: number; to: number; except?: number[]; alsoFree?: number[] }) =>
    (await home.client.findFreePort({ body: { except: [], alsoFree: [10_000], ...range } })).port
  await using taken = createServer()
  await new Promise<void>((done) => taken.listen(from + 10_000, '127.0.0.1', done))
  expect(await find({ from, to: from, alsoFree: [] })).toBe(from)
  expect(await find({ from, to: from + 5 })).toBe(from + 1)
  expect(await find({ from, to: from + 5, except: [from + 10_001] })).toBe(from + 2)
  // A bus above the last port there is: engines refuse it.
  expect(await find({ from: 55_536, to: 65_535 })).toBeNull()
  expect(await find({ from, to: from, alsoFree: [-from] })).toBeNull()
})

test('the bus of a shard in cluster mode is taken, though the shard does not run', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec({ cluster: true, build: { flavour: 'x', version: '1.0.0' } })
  const bus = spec.port + 10_000
  const find = async (from: number) =>
    (await home.client.findFreePort({ body: { from, to: from, except: [], alsoFree: [] } })).port
  expect(await find(bus)).toBe(bus)
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  expect([await find(bus), await find(spec.port)]).toEqual([null, null])
})

test('a folder that cannot be understood does not affect the other shards of the agent', async () => {
  await using home = await makeHome()
  const broken = join(home.path, 'shards', 'broken')
  await mkdir(broken, { recursive: true })
  await writeFile(join(broken, 'wanted.json'), '{"adminPassword": "hush-hush", ')
  await using _ = await home.start()
  await home.client.putShard({ params: { id: 'a-1' }, body: await makeSpec() })
  await home.becomes('a-1', { state: 'running' })
  expect(home.logged()).toContain('wanted.json cannot be understood: it is not JSON')
  expect(home.logged()).not.toContain('hush-hush')
})

/** An agent in a process of its own, once it serves. */
async function startAgentProcess(home: TestHome): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../run-agent.ts', import.meta.url))
  const args = ['--conditions=@fairlead/source', program, home.path, home.socketPath]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const answers = () =>
    home.client.reportNode({}).then(
      () => true,
      () => false,
    )
  await until(answers)
  return child
}

/** Empty when it is gone, as processes are after a while. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
