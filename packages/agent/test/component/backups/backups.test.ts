import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundBuild, NodeBackup, Seed, ShardSpec } from '@fairlead/api'
import { compareVersions, type EngineConnection } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { readData } from '../../../../../proof/clients/read-data.ts'
import { connectAs, makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { anyEngine, engines } from '../../engines.ts'

const all = { first: 0, last: 16_383 }

test.for(engines.map((engine) => ({ engine, name: `${engine.flavour} ${engine.version}` })))(
  'a backup has everything, and a shard that begins with it, too: $name',
  async ({ engine }) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const { spec, admin } = await startShard(home, 's1', { persistence: 'snapshot' }, engine)
    await fill(admin, engine)
    const before = [await readDb(admin, '0'), await readDb(admin, '3')]
    await admin.call('SELECT', '0')

    const made = await backUp(home, spec)
    const [file] = made.groups
    expect(made).toMatchObject({ state: 'done', why: '', bytes: file?.bytes })
    const bytes = await readFile(join(home.path, 'backups', made.name, 'group-0.rdb'))
    expect(file).toMatchObject({
      shard: 's1',
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      format: bytes.toString('latin1', 0, 9),
    })
    expect(file?.data.databases.map(({ number, keys }) => [number, keys])).toEqual([
      [0, Object.keys(before[0] ?? {}).length],
      [3, 1],
    ])
    expect(await readdir(join(home.path, 'backups'))).toEqual([made.name])
    // The engine's own files are as before.
    expect(await readdir(join(home.path, 'shards', 's1', 'data'))).not.toContain('dump.rdb')

    for (const persistence of ['aof', 'disabled'] as const) {
      const id = persistence === 'aof' ? 's2' : 's3'
      const copy = await startShard(home, id, { persistence, seed: seedOf(made) }, engine)
      expect([await readDb(copy.admin, '0'), await readDb(copy.admin, '3')]).toEqual(before)
      if (knowsFunctions(engine)) expect(await copy.admin.call('FCALL', 'f', 0)).toBe('answer')
      const aof = await copy.admin.call('CONFIG', 'GET', 'appendonly')
      expect(aof).toEqual(['appendonly', persistence === 'aof' ? 'yes' : 'no'])
    }
  },
)

test('a shard in cluster mode begins with its data and its slots', async () => {
  for (const engine of engines) {
    await using home = await makeHome()
    await using _ = await home.start()
    const slots = { first: 0, last: 8_191 }
    const { spec, admin } = await startShard(home, 's1', { cluster: true }, engine)
    for (let slot = slots.first; slot <= slots.last; slot += 1024)
      await admin.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 1024 }, (_, n) => slot + n))
    await until(async () => String(await admin.call('CLUSTER', 'INFO')).includes('cluster_slots_ok:8192'))
    let kept = 0
    for (let n = 0; n < 300; n += 1) {
      const slot = Number(await admin.call('CLUSTER', 'KEYSLOT', `k${n}`))
      if (slot > slots.last) continue
      await until(async () => (await admin.call('SET', `k${n}`, n).catch(() => null)) === 'OK')
      kept += 1
    }
    const made = await backUp(home, spec, { cluster: true }, { slots })
    expect(made).toMatchObject({ state: 'done', why: '' })
    const copy = await startShard(home, 's2', { cluster: true, seed: seedOf(made) }, engine)
    expect(await copy.admin.call('DBSIZE')).toBe(kept)
    if (knowsFunctions(engine))
      expect(await copy.admin.call('CLUSTER', 'SHARDS')).toEqual([expect.arrayContaining([[0, 8_191]])])
    const nodes = String(await copy.admin.call('CLUSTER', 'NODES'))
    expect(nodes.trim().split('\n')).toEqual([expect.stringMatching(/myself,master.* connected 0-8191$/)])
  }
})

test('a replica sends the data, when it has all that the primary acknowledged', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { spec, admin } = await startShard(home, 's1')
  await admin.call('SET', 'k', 'before')
  const { host, port } = spec
  const follower = await startShard(home, 's2', {
    replicaOf: { host, port },
    adminPassword: spec.adminPassword,
  })
  await until(async () => (await follower.admin.call('GET', 'k')) === 'before')
  const made = await backUp(home, spec, {}, { replicas: ['s2'] })
  expect(made.groups).toMatchObject([{ shard: 's2', data: { databases: [{ number: 0, keys: 1 }] } }])

  // A replica that is cut off is not waited for.
  await follower.admin.call('REPLICAOF', '127.0.0.1', '1')
  await admin.call('SET', 'k2', 'after')
  const later = await backUp(home, spec, {}, { replicas: ['s2'] })
  expect(later.groups).toMatchObject([{ shard: 's1', data: { databases: [{ number: 0, keys: 2 }] } }])
  expect(later.name).toBe('orders-1-2')
  const list = await home.client.reportBackups({})
  expect(list.map(({ name }) => name)).toEqual(['orders-1-2', 'orders-1'])
})

test('a file that was changed starts no process', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { spec, admin } = await startShard(home, 's1')
  await admin.call('SET', 'k', 'v')
  const made = await backUp(home, spec)
  const path = join(home.path, 'backups', made.name, 'group-0.rdb')
  const bytes = await readFile(path)
  bytes[bytes.length - 12] = (bytes[bytes.length - 12] ?? 0) ^ 1
  await writeFile(path, bytes)
  await home.client.putShard({ params: { id: 's2' }, body: await makeSpec({ seed: seedOf(made) }) })
  const { why, pid } = await home.becomes('s2', { state: 'failed' })
  expect(why).toMatch(/^backup orders-1, group 0: the file of the backup has changed/)
  expect(pid).toBeNull()
  await home.client.removeBackup({ params: { name: made.name } })
  await home.client.putShard({ params: { id: 's3' }, body: await makeSpec({ seed: seedOf(made) }) })
  expect((await home.becomes('s3', { state: 'failed' })).why).toContain('ENOENT')
})

test('a shard that has not loaded all data never counts as running', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { spec, admin } = await startShard(home, 's1')
  await admin.call('SET', 'k', 'v')
  const made = await backUp(home, spec)
  const seed = seedOf(made)
  const more = {
    ...seed,
    data: { ...seed.data, databases: [{ number: 0, keys: 2, expires: 0 }], keysInFile: null },
  }
  await home.client.putShard({ params: { id: 's2' }, body: await makeSpec({ seed: more }) })
  const { why, pid } = await home.becomes('s2', { state: 'failed' })
  expect(why).toContain('backup orders-1 is not loaded: it has 1 keys in database 0, not 2')
  expect(pid).toBeNull()
})

test('data are loaded once: after a restart, a shard has what was written since', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { spec, admin } = await startShard(home, 's1')
  await admin.call('SET', 'k', 'v')
  const made = await backUp(home, spec)
  const copy = await startShard(home, 's2', { persistence: 'aof', seed: seedOf(made) })
  await copy.admin.call('SET', 'k', 'changed')
  await copy.admin.call('SET', 'later', 'v')
  await home.client.putShard({ params: { id: 's2' }, body: { ...copy.spec, revision: 'second' } })
  await home.becomes('s2', { state: 'running', revision: 'second' })
  using again = await connectAs('fairlead', copy.spec)
  expect(await again.call('MGET', 'k', 'later')).toEqual(['changed', 'v'])
})

test('a backup that fails leaves its reason and no file, and the next one removes that', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { spec } = await startShard(home, 's1')
  const failed = await backUp(home, spec, {
    build: { flavour: spec.build.flavour, version: '0.0.1' },
  })
  expect(failed).toMatchObject({ state: 'failed', groups: [], provedAt: null })
  expect(failed.why).toMatch(/^the file of group 0 cannot be loaded: there is no build/)
  expect(await readdir(join(home.path, 'backups'))).toEqual(['.failed-orders-1'])
  expect(await backUp(home, spec)).toMatchObject({ state: 'done', name: 'orders-1-2' })
  expect((await home.client.reportBackups({})).map(({ name }) => name)).toEqual(['orders-1-2'])
  await home.client.removeBackup({ params: { name: 'orders-1-2' } })
  await home.client.removeBackup({ params: { name: 'orders-1-2' } })
  expect(await readdir(join(home.path, 'backups'))).toEqual([])
})

test('one backup of a database is made at a time, and it can be deleted meanwhile', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { spec, admin } = await startShard(home, 's1')
  await fillMuch(admin)
  const body = requestOf(spec)
  const [first, second] = await Promise.allSettled([
    home.client.startBackup({ body }),
    home.client.startBackup({ body }),
  ])
  expect(first).toMatchObject({ status: 'fulfilled', value: { state: 'running', name: 'orders-1' } })
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'db_busy' } })
  await home.client.removeBackup({ params: { name: 'orders-1' } })
  expect(await home.client.reportBackups({})).toEqual([])
  expect(await readdir(join(home.path, 'backups'))).toEqual([])
  // It was wanted: nothing has failed.
  expect(home.logged()).not.toContain('a backup has failed')
  // The engine is not left with a sender.
  await until(async () => String(await admin.info('replication')).includes('connected_slaves:0'))
})

test('an agent that is stopped while it makes a backup leaves no file, and its successor says so', async () => {
  await using home = await makeHome()
  const { spec } = await (async () => {
    await using _ = await home.start()
    const shard = await startShard(home, 's1')
    await fillMuch(shard.admin)
    await home.client.startBackup({ body: requestOf(shard.spec) })
    return shard
  })()
  await using _ = await home.start()
  expect(await home.client.reportBackups({})).toMatchObject([
    { name: 'orders-1', state: 'failed', why: 'the agent was stopped while it was being made' },
  ])
  await home.becomes('s1', { state: 'running' })
  expect(await backUp(home, spec)).toMatchObject({ state: 'done' })
})

async function startShard(
  home: TestHome,
  id: string,
  wanted: Partial<ShardSpec> = {},
  engine: FoundBuild = anyEngine(),
): Promise<{ readonly spec: ShardSpec; readonly admin: EngineConnection }> {
  const spec = await makeSpec(wanted, engine)
  await home.client.putShard({ params: { id }, body: spec })
  await home.becomes(id, { state: 'running' })
  return { spec, admin: await connectAs('fairlead', spec) }
}

type Request = Parameters<TestHome['client']['startBackup']>[0]['body']

function requestOf(
  { build }: ShardSpec,
  database: Partial<Request['database']> = {},
  group: Partial<Request['groups'][number]> = {},
): Request {
  return {
    name: 'orders-1',
    database: {
      uid: 1,
      name: 'orders',
      build,
      cluster: false,
      clientsKnowShards: false,
      replicas: 0,
      memoryBytes: 0,
      persistence: 'aof',
      aofFsync: 'everysec',
      snapshots: [],
      evictionPolicy: 'noeviction',
      tls: false,
      modules: [],
      ...database,
    },
    modules: [],
    groups: [{ number: 0, slots: all, primary: 's1', replicas: [], ...group }],
  }
}

async function backUp(home: TestHome, ...of: Parameters<typeof requestOf>): Promise<NodeBackup> {
  const { name, state } = await home.client.startBackup({ body: requestOf(...of) })
  expect(state).toBe('running')
  let seen: NodeBackup | undefined
  const isOver = async () => {
    seen = (await home.client.reportBackups({})).find((one) => one.name === name)
    return seen !== undefined && seen.state !== 'running'
  }
  await until(isOver, { what: () => JSON.stringify(seen) })
  if (seen === undefined) throw new Error('unreachable')
  return seen
}

function seedOf({ name, groups }: NodeBackup): Seed {
  const [file] = groups
  if (file === undefined) throw new Error(`backup ${name} has no file`)
  return { backup: name, group: file.number, sha256: file.sha256, slots: file.slots, data: file.data }
}

async function readDb(engine: EngineConnection, db: string) {
  await engine.call('SELECT', db)
  return await readData(engine.call)
}

function knowsFunctions({ flavour, version }: FoundBuild): boolean {
  return flavour !== 'redis' || compareVersions(version, '7.0') >= 0
}

/** All types, in small and large form, with expiries, a group of a stream, functions, and a second database. */
async function fill({ call }: EngineConnection, engine: FoundBuild): Promise<void> {
  for (let n = 0; n < 300; n += 1) {
    await call('SET', `string-${n}`, `value ${n}`)
    await call('RPUSH', 'list', n)
    await call('SADD', 'numbers', n)
    await call('SADD', 'words', `member ${n}`)
    await call('ZADD', 'ranking', n / 7, `member ${n}`)
    await call('HSET', `hash-${n % 2}`, `field ${n}`, 'x'.repeat(n))
    await call('XADD', 'stream', `${n + 1}-1`, 'n', n)
  }
  await call('SET', 'binary', Buffer.from(Array.from({ length: 256 }, (_, n) => n)))
  await call('SET', 'large', 'abc'.repeat(100_000))
  await call('PEXPIRE', 'string-7', 86_400_000)
  await call('XGROUP', 'CREATE', 'stream', 'workers', '0')
  await call('XREADGROUP', 'GROUP', 'workers', 'one', 'COUNT', 9, 'STREAMS', 'stream', '>')
  await call('XACK', 'stream', 'workers', '3-1')
  await call('SELECT', '3')
  await call('SET', 'elsewhere', 'v')
  await call('SELECT', '0')
  if (knowsFunctions(engine))
    await call(
      'FUNCTION',
      'LOAD',
      "#!lua name=l\nredis.register_function('f', function() return 'answer' end)",
    )
}

/** So much that a backup takes a moment. */
async function fillMuch({ call }: EngineConnection): Promise<void> {
  for (let n = 0; n < 40; n += 1) await call('SET', `k${n}`, Buffer.alloc(1024 * 1024, n))
}
