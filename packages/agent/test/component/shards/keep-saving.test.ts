import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ShardSaving, ShardSpec } from '@fairlead/api'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const plain: Omit<ShardSaving, 'persistence'> = { aofFsync: 'everysec', snapshots: [] }
const aof: ShardSaving = { ...plain, persistence: 'aof', aofFsync: 'always' }
const snapshot: ShardSaving = {
  ...plain,
  persistence: 'snapshot',
  snapshots: [
    { secs: 3_600, writes: 1 },
    { secs: 60, writes: 100 },
  ],
}
const disabled: ShardSaving = { ...plain, persistence: 'disabled' }
const id = 'a-1'

async function saveAs(home: TestHome, spec: ShardSpec, saving: ShardSaving): Promise<void> {
  const { pid } = await home.becomes(id, { state: 'running' })
  await home.client.putSaving({ params: { id }, body: saving })
  // This is the part of the server.
  if (saving.persistence === 'aof') await call(spec, 'CONFIG', 'SET', 'appendonly', 'yes')
  await until(async () => (await home.shard(id))?.saving?.persistence === saving.persistence)
  expect(await home.shard(id)).toMatchObject({ pid, state: 'running', saving })
}

async function call(spec: ShardSpec, command: string, ...args: readonly string[]) {
  using admin = await connectAs('fairlead', spec)
  return await admin.call(command, ...args)
}

/** Kills the process, and returns the keys that the next one has loaded. */
async function keysAfterDeath(home: TestHome, spec: ShardSpec): Promise<readonly string[]> {
  const { pid, startedAt } = await home.becomes(id, { state: 'running' })
  process.kill(pid ?? 0, 'SIGKILL')
  await until(async () => {
    const now = await home.shard(id)
    return now?.state === 'running' && now.startedAt !== startedAt
  })
  return [...((await call(spec, 'KEYS', '*')) as readonly string[])].toSorted()
}

test.each(engines)(
  '$flavour $version: a running shard saves its data in another way, and what it promises then outlives its death',
  async (engine) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec(disabled, engine)
    const has = (name: string) => existsSync(join(home.path, 'shards', id, 'data', name))
    const hasAof = () => has('appendonlydir') || has('appendonly.aof')
    await home.client.putShard({ params: { id }, body: spec })
    await home.becomes(id, { state: 'running' })

    await call(spec, 'SET', 'a', '1')
    await saveAs(home, spec, aof)
    await call(spec, 'SET', 'b', '1')
    expect(await call(spec, 'CONFIG', 'GET', 'appendfsync')).toEqual(['appendfsync', 'always'])
    expect(await keysAfterDeath(home, spec)).toEqual(['a', 'b'])

    await call(spec, 'SET', 'c', '1')
    await saveAs(home, spec, snapshot)
    expect(await call(spec, 'CONFIG', 'GET', 'save')).toEqual(['save', '3600 1 60 100'])
    expect([hasAof(), has('dump.rdb')]).toEqual([false, true])
    expect(await keysAfterDeath(home, spec)).toEqual(['a', 'b', 'c'])

    await saveAs(home, spec, aof)
    expect(has('dump.rdb')).toBe(false)
    await call(spec, 'SET', 'd', '1')
    expect(await call(spec, 'CONFIG', 'GET', 'save')).toEqual(['save', ''])
    expect(await keysAfterDeath(home, spec)).toEqual(['a', 'b', 'c', 'd'])

    await saveAs(home, spec, disabled)
    expect([hasAof(), has('dump.rdb')]).toEqual([false, false])
    expect(await keysAfterDeath(home, spec)).toEqual([])
  },
)

test('an agent that ends before the change is carried out leaves it to the next one', async () => {
  await using home = await makeHome()
  const spec = await makeSpec(aof)
  {
    await using _ = await home.start()
    await home.client.putShard({ params: { id }, body: spec })
    await home.becomes(id, { state: 'running' })
    await call(spec, 'SET', 'a', '1')
    await home.client.putSaving({ params: { id }, body: snapshot })
  }
  await using _ = await home.start()
  await until(async () => (await home.shard(id))?.saving?.persistence === 'snapshot')
  expect(await keysAfterDeath(home, spec)).toEqual(['a'])
})

// A write that fails ends an engine that has to sync each one: the data are only in memory then.
test('each write is synced only when the append-only file is whole', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec(disabled)
  await home.client.putShard({ params: { id }, body: spec })
  await home.becomes(id, { state: 'running' })
  await home.client.putSaving({ params: { id }, body: aof })
  await until(async () => (await home.shard(id))?.saving?.changing === true)
  expect(await call(spec, 'CONFIG', 'GET', 'appendfsync')).toEqual(['appendfsync', 'everysec'])
  await saveAs(home, spec, aof)
  expect(await call(spec, 'CONFIG', 'GET', 'appendfsync')).toEqual(['appendfsync', 'always'])
})

test('a change that is taken back while the file is written leaves no append-only file', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec(disabled)
  await home.client.putShard({ params: { id }, body: spec })
  await home.becomes(id, { state: 'running' })
  await home.client.putSaving({ params: { id }, body: aof })
  await until(async () => (await home.shard(id))?.saving?.changing === true)
  await call(spec, 'CONFIG', 'SET', 'appendonly', 'yes')
  await home.client.putSaving({ params: { id }, body: disabled })
  await until(async () => {
    const saving = (await home.shard(id))?.saving
    return saving?.changing === undefined && saving?.persistence === 'disabled'
  })
  expect(await call(spec, 'CONFIG', 'GET', 'appendonly')).toEqual(['appendonly', 'no'])
  expect(existsSync(join(home.path, 'shards', id, 'data', 'appendonlydir'))).toBe(false)
})

test('a snapshot that is being written when saving ends does not come back', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec({ ...snapshot, snapshots: [{ secs: 3_600, writes: 1_000_000 }] })
  await home.client.putShard({ params: { id }, body: spec })
  await home.becomes(id, { state: 'running' })
  await call(spec, 'CONFIG', 'SET', 'rdb-key-save-delay', '2000')
  for (let n = 0; n < 500; n += 1) await call(spec, 'SET', `key:${n}`, '1')
  await call(spec, 'BGSAVE')
  await home.client.putSaving({ params: { id }, body: disabled })
  await until(async () => (await home.shard(id))?.saving?.persistence === 'disabled')
  expect(String(await call(spec, 'INFO', 'persistence'))).toContain('rdb_bgsave_in_progress:0')
  expect(existsSync(join(home.path, 'shards', id, 'data', 'dump.rdb'))).toBe(false)
})
