import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { ShardSpec } from '@fairlead/api'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { anyEngine, engines } from '../../engines.ts'

const persistences = ['disabled', 'snapshot', 'aof'] as const
const builds = engines.map(({ flavour, version }) => ({ flavour, version }))

test.for(builds.flatMap((build) => persistences.map((persistence) => ({ ...build, persistence }))))(
  'a restart keeps the data: $flavour $version, persistence $persistence',
  async ({ flavour, version, persistence }) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const snapshots = [{ secs: 3600, writes: 1 }]
    const spec = await makeSpec({ build: { flavour, version }, persistence, snapshots })
    await run(home, spec)
    await write(spec, 'a')
    await run(home, { ...spec, revision: 'second' })
    expect(await read(spec, 'a')).toBe('value of a')
    await write(spec, 'b')
    await run(home, { ...spec, revision: 'third' })
    expect([await read(spec, 'a'), await read(spec, 'b')]).toEqual(['value of a', 'value of b'])

    using admin = await connectAs('fairlead', spec)
    expect(await admin.call('CONFIG', 'GET', 'appendonly')).toEqual([
      'appendonly',
      persistence === 'aof' ? 'yes' : 'no',
    ])
    expect(await admin.call('CONFIG', 'GET', 'save')).toEqual([
      'save',
      persistence === 'snapshot' ? '3600 1' : '',
    ])
  },
)

test.for(builds)(
  'writes that a database with an AOF has acknowledged survive a kill: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build, persistence: 'aof', aofFsync: 'always' })
    await run(home, spec)
    await write(spec, 'a')
    await crash(home)
    expect(await read(spec, 'a')).toBe('value of a')
    // After a clean restart, there is a snapshot, too, which is older than the following writes.
    await run(home, { ...spec, revision: 'second' })
    await write(spec, 'b')
    await crash(home)
    expect([await read(spec, 'a'), await read(spec, 'b')]).toEqual(['value of a', 'value of b'])
  },
)

test.for(builds)(
  'files of saves that a kill has ended are deleted before the next start: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build, persistence: 'aof' })
    await run(home, spec)
    await aofIsWritten(spec)
    await write(spec, 'a')
    const data = join(home.path, 'shards', 'a-1', 'data')
    const unfinished = () => readdirSync(data).filter((name) => name.startsWith('temp-'))
    {
      using admin = await connectAs('fairlead', spec)
      // A minute for the only key.
      await admin.call('CONFIG', 'SET', 'rdb-key-save-delay', 60_000_000)
      await admin.call('BGSAVE')
      await until(() => unfinished().length > 0)
    }
    await crash(home)
    await until(() => unfinished().length === 0)
    expect(await read(spec, 'a')).toBe('value of a')
  },
)

test.for(builds)(
  'switching the AOF on, off and on again over restarts never brings back old data: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build })
    await run(home, { ...spec, persistence: 'aof' })
    await write(spec, 'a', 'first')
    await run(home, { ...spec, revision: 'second', persistence: 'disabled' })
    expect(await read(spec, 'a')).toBe('first')
    await write(spec, 'a', 'second')
    await run(home, { ...spec, revision: 'third', persistence: 'aof' })
    expect(await read(spec, 'a')).toBe('second')
    await aofIsWritten(spec)
    await write(spec, 'a', 'third')
    await crash(home)
    expect(await read(spec, 'a')).toBe('third')
  },
)

test('a replica resumes without a full sync, and later, as a primary, loads the data that it had', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const primary = await makeSpec({ persistence: 'aof' })
  const secrets = { adminPassword: primary.adminPassword, userPassword: primary.userPassword }
  const replica = await makeSpec({
    persistence: 'aof',
    ...secrets,
    replicaOf: { host: primary.host, port: primary.port },
  })
  await run(home, primary, 'p')
  await run(home, replica, 'r')
  await write(primary, 'a')
  await until(async () => (await read(replica, 'a')) === 'value of a')
  using admin = await connectAs('fairlead', replica)
  await admin.call('CONFIG', 'SET', 'appendonly', 'yes')
  await aofIsWritten(replica)

  await run(home, { ...replica, revision: 'second' }, 'r')
  await linked(replica)
  using source = await connectAs('fairlead', primary)
  expect(await source.info('stats')).toMatch(/sync_full:1\r\n[\s\S]*sync_partial_ok:1\r\n/)

  // Written while its AOF is off: from here on the old AOF is outdated.
  await write(primary, 'b')
  await until(async () => (await read(replica, 'b')) === 'value of b')
  await run(home, { ...replica, revision: 'third', replicaOf: null }, 'r')
  expect([await read(replica, 'a'), await read(replica, 'b')]).toEqual(['value of a', 'value of b'])
  await aofIsWritten(replica)
})

// invariant: The choice of the file to load depends on no clock.
test.for(builds)(
  'a clock that is set back after its start brings back no old data: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const primary = await makeSpec({ build, persistence: 'aof' })
    const { host, port, adminPassword, userPassword } = primary
    const own = await makeSpec({ build, persistence: 'aof', adminPassword, userPassword })
    await run(home, primary, 'p')
    await run(home, { ...own, replicaOf: { host, port } })
    await linked(own)
    {
      using admin = await connectAs('fairlead', own)
      await admin.call('SAVE')
      await admin.call('CONFIG', 'SET', 'appendonly', 'yes')
      await aofIsWritten(own)
      await admin.call('REPLICAOF', 'NO', 'ONE')
    }
    await write(own, 'a')
    // The files as if the clock was set back by an hour between the start and the AOF.
    const data = join(home.path, 'shards', 'a-1', 'data')
    for (const name of ['appendonly.aof', join('appendonlydir', 'appendonly.aof.manifest')])
      if (existsSync(join(data, name))) setBack(join(data, name))
    await home.client.putShard({ params: { id: 'a-1' }, body: { ...own, onCrash: 'restart' } })
    await crash(home)
    expect(await read(own, 'a')).toBe('value of a')
  },
)

test('a shard whose data folder holds only a snapshot starts with it, though an AOF is wanted', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { flavour, version } = anyEngine()
  const spec = await makeSpec({ build: { flavour, version } })
  await run(home, spec)
  await write(spec, 'a')
  await run(home, { ...spec, revision: 'second', persistence: 'aof' })
  expect(await read(spec, 'a')).toBe('value of a')
  await aofIsWritten(spec)
  expect(readdirSync(join(home.path, 'shards', 'a-1', 'data'))).toContain('appendonlydir')
})

function setBack(path: string): void {
  const { mtimeMs } = statSync(path)
  utimesSync(path, mtimeMs / 1_000 - 3_600, mtimeMs / 1_000 - 3_600)
}

/** Puts the shard and waits until it runs with this spec. */
async function run(home: TestHome, spec: ShardSpec, id = 'a-1'): Promise<void> {
  await home.client.putShard({ params: { id }, body: spec })
  await home.becomes(id, { state: 'running', revision: spec.revision })
}

async function crash(home: TestHome): Promise<void> {
  const { pid, crashes } = await home.becomes('a-1', { state: 'running' })
  process.kill(pid ?? 0, 'SIGKILL')
  await home.becomes('a-1', { state: 'running', crashes: crashes + 1 })
}

async function write(spec: ShardSpec, key: string, value = `value of ${key}`): Promise<void> {
  using client = await connectAs('default', spec)
  expect(await client.call('SET', key, value)).toBe('OK')
}

async function read(spec: ShardSpec, key: string) {
  using client = await connectAs('default', spec)
  return await client.call('GET', key)
}

async function linked(spec: ShardSpec): Promise<void> {
  using admin = await connectAs('fairlead', spec)
  const up = async () => (await admin.info('replication')).includes('master_link_status:up')
  await until(up)
}

/** The first rewrite is done, so the AOF that was switched on holds all data. */
async function aofIsWritten(spec: ShardSpec): Promise<void> {
  using admin = await connectAs('fairlead', spec)
  const done = async () => {
    const text = await admin.info('persistence')
    return /aof_enabled:1\r\naof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/.test(text)
  }
  await until(done)
}
