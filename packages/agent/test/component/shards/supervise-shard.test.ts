import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { anyEngine, engines } from '../../engines.ts'

test('a killed process is started again, after a longer pause each time', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  await home.client.putShard({ params: { id: 'a-1' }, body: await makeSpec() })
  for (const crashes of [1, 2, 3]) {
    const { pid, beganAfterDeath } = await home.becomes('a-1', { state: 'running', crashes: crashes - 1 })
    expect(beganAfterDeath).toBe(crashes > 1)
    process.kill(pid ?? 0, 'SIGKILL')
  }
  await home.becomes('a-1', { state: 'running', crashes: 3 })
  // A pause is shorter than the time between two looks may be.
  expect(home.logged().match(/back-off of \d+ ms is over/g)).toEqual(
    [100, 200, 400].map((ms) => `back-off of ${ms} ms is over`),
  )
  expect(home.logged().match(/"why":"signal SIGKILL"/g)).toHaveLength(3)
})

test('a shard that has died waits for the server if others may have newer data', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec({ onCrash: 'wait' })
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  const { pid } = await home.becomes('a-1', { state: 'running' })
  process.kill(pid ?? 0, 'SIGKILL')
  const exited = await home.becomes('a-1', { state: 'exited', crashes: 1 })
  expect(exited.why).toBe('signal SIGKILL; waits until the server orders its start')

  const put = await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  expect([put.state, put.crashes]).toEqual(['starting', 0])
  await home.becomes('a-1', { state: 'running', crashes: 0, beganAfterDeath: true })
  await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision: 'another' } })
  await home.becomes('a-1', { state: 'running', revision: 'another', beganAfterDeath: false })
})

test('new limits apply to the next process: a running process goes on, and one that waits for the server is not started', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec({ onCrash: 'wait' })
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  const { pid } = await home.becomes('a-1', { state: 'running' })
  const limits = { memoryBytes: 50_000_000, evictionPolicy: 'allkeys-lfu' }
  await home.client.putLimits({ params: { id: 'a-1' }, body: limits })
  expect(await home.shard('a-1')).toMatchObject({ pid, state: 'running', ...limits })
  process.kill(pid ?? 0, 'SIGKILL')
  await home.becomes('a-1', { state: 'exited' })
  await home.client.putLimits({ params: { id: 'a-1' }, body: { ...limits, memoryBytes: 60_000_000 } })
  expect(await home.shard('a-1')).toMatchObject({ state: 'exited', asleep: true, memoryBytes: 60_000_000 })

  const next = { ...spec, ...limits, memoryBytes: 60_000_000 }
  await home.client.putShard({ params: { id: 'a-1' }, body: next })
  await home.becomes('a-1', { state: 'running' })
  using admin = await connectAs('fairlead', next)
  expect(await admin.call('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '60000000'])
  await home.client.putLimits({ params: { id: 'unknown' }, body: limits })
})

test('a process that stalled for less than that time is left alone', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  await home.client.putShard({ params: { id: 'a-1' }, body: await makeSpec() })
  const before = await home.becomes('a-1', { state: 'running' })
  process.kill(before.pid ?? 0, 'SIGSTOP')
  await until(async () => (await home.shard('a-1'))?.why.startsWith('has not answered for') ?? false)
  process.kill(before.pid ?? 0, 'SIGCONT')
  await home.becomes('a-1', { state: 'running', pid: before.pid, crashes: 0, why: '' })
})

test('a shard whose build is not on the node fails, and says which', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec({ build: { flavour: 'valkey', version: '0.0.1' } })
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  const failed = await home.becomes('a-1', { state: 'failed' })
  expect(failed.why).toBe(
    'there is no build valkey 0.0.1 on this node; put it into the folder of builds or on PATH',
  )
  const { flavour, version } = anyEngine()
  await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, build: { flavour, version } } })
  await home.becomes('a-1', { state: 'running' })
})

test('a program that cannot be run fails the shard, and says why', async () => {
  await using home = await makeHome()
  const program = join(home.path, 'valkey-server')
  await writeFile(program, '#!/bin/sh\n')
  const found = { flavour: 'valkey', version: '1.0.0', source: 'folder', program } as const
  const builds = { list: () => Promise.resolve([found]), find: () => Promise.resolve(found) }
  await using _ = await home.start({ builds })
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  expect((await home.becomes('a-1', { state: 'failed' })).why).toContain('is not executable')

  await chmod(program, 0o755)
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  expect((await home.becomes('a-1', { state: 'failed', why: 'exit code 0' })).crashes).toBe(1)
})

test.for(engines.map(({ flavour, version }) => ({ flavour, version })))(
  'a shard that cannot start reports the words of the engine: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build })
    await using taken = createServer((socket) => socket.resume())
    await new Promise<void>((done) => taken.listen(spec.port, '127.0.0.1', done))
    await home.client.putShard({ params: { id: 'port' }, body: spec })
    expect(await home.becomes('port', { state: 'failed' })).toMatchObject({
      portTaken: true,
      why: expect.stringContaining('Address already in use'),
    })
    expect((await home.shard('port'))?.why).toContain(
      `port ${spec.port} is held by a process of user ${process.geteuid?.()}`,
    )

    await home.client.putShard({
      params: { id: 'policy' },
      body: await makeSpec({ build, evictionPolicy: 'sometimes' }),
    })
    expect((await home.becomes('policy', { state: 'failed' })).why).toMatch(/sometimes.*must be one of/)

    const data = join(home.path, 'shards', 'data', 'data')
    await mkdir(data, { recursive: true })
    await writeFile(join(data, 'dump.rdb'), 'REDIS0099')
    await home.client.putShard({ params: { id: 'data' }, body: await makeSpec({ build }) })
    expect((await home.becomes('data', { state: 'failed' })).why).toContain(
      "Can't handle RDB format version 99",
    )
  },
)

test('a failed shard is tried again when it is put again, with the same spec too', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec()
  {
    await using taken = createServer((socket) => socket.resume())
    await new Promise<void>((done) => taken.listen(spec.port, '127.0.0.1', done))
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    await home.becomes('a-1', { state: 'failed' })
  }
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  await home.becomes('a-1', { state: 'running', crashes: 0 })
})

test('an engine that cannot save its data is not stopped, and says why, until it can', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  const before = await home.becomes('a-1', { state: 'running' })
  using client = await connectAs('default', spec)
  await client.call('SET', 'key', 'value')
  // A folder in the place of the snapshot: as root, permissions would not keep the engine from writing.
  const obstacle = join(home.path, 'shards', 'a-1', 'data', 'dump.rdb')
  await mkdir(join(obstacle, 'x'), { recursive: true })

  await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision: 'second' } })
  await until(async () => (await home.shard('a-1'))?.why.startsWith('cannot be stopped: ') ?? false)
  expect(await home.shard('a-1')).toMatchObject({ state: 'running', pid: before.pid, revision: 'first' })
  expect(await client.call('GET', 'key')).toBe('value')

  await rm(obstacle, { recursive: true })
  await home.becomes('a-1', { state: 'running', revision: 'second' })
  using after = await connectAs('default', spec)
  expect(await after.call('GET', 'key')).toBe('value')
})

test('a hung process is not killed for a new revision, unless the server orders it; that counts as a crash', async () => {
  await using home = await makeHome()
  // It may still answer the agent's login just after it was told to stop: then it is waited for in SHUTDOWN.
  // The next process has nothing to lose, and on a busy machine it is silent for some tenths of a second.
  await using _ = await home.start({ hungAfterMs: 3_000, primaryHungAfterMs: 600, stopWithinMs: 1_000 })
  const spec = await makeSpec({ onCrash: 'wait' })
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  const { pid, startedAt } = await home.becomes('a-1', { state: 'running' })
  process.kill(pid ?? 0, 'SIGSTOP')
  await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision: 'second' } })
  await until(async () =>
    /^cannot be stopped: .*the server decides/.test((await home.shard('a-1'))?.why ?? ''),
  )
  await until(async () => (await home.shard('a-1'))?.silence?.hung ?? false)
  await home.client.endShardProcess({ params: { id: 'a-1' }, body: { startedAt: startedAt ?? 0 } })
  const exited = await home.becomes('a-1', { state: 'exited' })
  expect(exited.why).toContain('did not answer')
  await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision: 'second' } })
  await home.becomes('a-1', { state: 'running', revision: 'second' })
})

test('a process that loads or saves much data is neither hung nor forced', async () => {
  await using home = await makeHome()
  await using _ = await home.start({ hungAfterMs: 1_000, stopWithinMs: 500 })
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  await home.becomes('a-1', { state: 'running' })
  using client = await connectAs('default', spec)
  const fill = 'for i = 1, 50000 do redis.call("SET", ARGV[1] .. i, string.rep(i, 20)) end'
  for (let part = 0; part < 20; part += 1) await client.call('EVAL', fill, '0', `${part}:`)

  // It loads for a second, for which agent and test, which are one process, may stall on a machine under
  // load.
  const seen = new Set<string>()
  for (let n = 2; !seen.has('starting: loads its data'); n += 1) {
    const revision = `revision ${n}`
    await home.client.putShard({ params: { id: 'a-1' }, body: { ...spec, revision } })
    await until(async () => {
      const shard = await home.shard('a-1')
      seen.add(`${shard?.state}: ${shard?.why}`)
      return shard?.state === 'running' && shard.revision === revision
    })
    expect(await home.shard('a-1')).toMatchObject({ crashes: 0 })
  }
  using after = await connectAs('default', spec)
  expect(await after.call('DBSIZE')).toBe(1_000_000)
})
