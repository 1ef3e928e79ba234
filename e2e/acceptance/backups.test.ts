import { writeFileSync } from 'node:fs'
import { cp, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type Backup, createClient, fetchTransport, operations } from '@fairlead/api'
import { describe, expect } from 'vitest'
import { type Client, libraries } from '../../proof/clients/clients.ts'
import { readData } from '../../proof/clients/read-data.ts'
import { createDatabase, type Served } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { commandLine } from '../../proof/run-command-line.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { test } from '../support/shared-fairlead.ts'

const { from: older, to: newer } = usualPair()

describe('a backup has everything that was acknowledged before, and a new database begins with it', () => {
  test.for([
    ['with a replica', {}],
    ['without a replica', { replication: false }],
    ['sharded', { shards_count: 3 }],
    ['sharded, of a newer engine', { shards_count: 3, engine_version: newer }],
  ] as const)('%s', async ([, shape], { fairlead }) => {
    const { api } = fairlead
    const source = await createDatabase(fairlead, { ...small(), engine_version: older, ...shape })
    const before = await fill(source)
    const writer = await startWriter(source)
    await until('the writer has begun', () => writer.acknowledged() > 50)
    const acknowledged = writer.acknowledged()
    const backup = await backUp(fairlead, source.uid)
    const all = await writer.stop()
    expect(backup).toMatchObject({
      status: 'done',
      bdb_uid: source.uid,
      bdb_name: source.name,
      shards_count: 'shards_count' in shape ? 3 : 1,
      engine: source.engine,
      engine_version: source.engine_version,
      proved_time: expect.any(String),
    })

    const copy = await restore(fairlead, backup.name)
    expect(copy).toMatchObject({
      engine_version: source.engine_version,
      shards_count: source.shards_count,
      sharding: source.sharding,
      oss_cluster: source.oss_cluster,
      replication: source.replication,
      data_persistence: source.data_persistence,
      eviction_policy: source.eviction_policy,
    })
    const { written, others } = divide(await read(copy))
    expect(others).toEqual(before)
    // Of each group a prefix of its history; without sharding, of all.
    expect(written.length).toBeGreaterThanOrEqual(acknowledged)
    expect(written.length).toBeLessThanOrEqual(all)
    expect(written.filter((n) => n < acknowledged)).toHaveLength(acknowledged)
    if (source.shards_count === 1) expect(written).toEqual(written.map((_, n) => n))
    expect(backup.keys).toBe(written.length + Object.keys(before).length)

    // The copy is a database like any other: it takes writes, and a restart loses none.
    using client = await connect(copy)
    await client.call('SET', 'after', 'v')
    const { action_uid } = await api.upgradeDatabase({
      params: { uid: copy.uid },
      body: { force_restart: true },
    })
    expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
    const later = divide(await read(copy))
    expect(later.written).toEqual(written)
    expect(Object.keys(later.others)).toHaveLength(Object.keys(before).length + 1)
  })
})

test('a backup outlives its database, and is read by another engine', async ({ fairlead }) => {
  const { api } = fairlead
  const source = await createDatabase(fairlead, {
    ...small(),
    engine_version: older,
    data_persistence: 'snapshot',
    eviction_policy: 'noeviction',
  })
  const before = await fill(source)
  const { name } = await backUp(fairlead, source.uid)
  const { action_uid } = await api.deleteDatabase({ params: { uid: source.uid } })
  await fairlead.untilEnded(action_uid)

  const copy = await restore(fairlead, name, { engine_version: newer, replication: false })
  expect(copy).toMatchObject({
    data_persistence: 'snapshot',
    eviction_policy: 'noeviction',
    replication: false,
  })
  expect(`${copy.engine}-${copy.engine_version}`).toMatch(newer)
  expect(await read(copy)).toEqual(before)

  // Put away and back, it is the same backup.
  const [folder, away] = [join(fairlead.home, 'backups', name), join(fairlead.home, `away-${name}`)]
  await rename(folder, away)
  await expect(api.getBackup({ params: { name } })).rejects.toMatchObject({ code: 'backup_not_exist' })
  await cp(away, folder, { recursive: true })
  const again = await restore(fairlead, name, { replication: false })
  expect(await read(again)).toEqual(before)

  expect((await api.listBackups({})).map((one) => one.name)).toContain(name)
  expect(await api.listBackups({ query: { bdb_uid: copy.uid } })).toEqual([])
  expect(await api.deleteBackup({ params: { name } })).toEqual({ name })
  await expect(api.getBackup({ params: { name } })).rejects.toMatchObject({ code: 'backup_not_exist' })
  await expect(api.deleteBackup({ params: { name } })).rejects.toMatchObject({ code: 'backup_not_exist' })
  const gone = { ...small(), from_backup: name }
  await expect(api.createDatabase({ body: gone })).rejects.toMatchObject({ code: 'backup_not_exist' })
})

test('a database that could not take the data is refused before anything starts', async ({ fairlead }) => {
  const { api } = fairlead
  const source = await createDatabase(fairlead, { ...small(), engine_version: newer, replication: false })
  using client = await connect(source)
  await client.call('SET', 'large', 'x'.repeat(2_000_000))
  await client.call('SELECT', '2')
  await client.call('SET', 'elsewhere', 'v')
  const { name: from_backup } = await backUp(fairlead, source.uid)
  const count = (await api.listDatabases({})).length
  const obstacles = async (fields: object) =>
    api.createDatabase({ body: { ...small(), from_backup, ...fields } }).then(
      () => [],
      ({ obstacles: all }) =>
        all.map((one: { field: string; error_code: string }) => [one.field, one.error_code]),
    )
  expect(await obstacles({ engine_version: older })).toEqual([['engine_version', 'backup_not_readable']])
  expect(await obstacles({ shards_count: 2 })).toEqual([
    ['shards_count', 'backup_not_readable'],
    ['sharding', 'backup_not_readable'],
  ])
  expect(await obstacles({ memory_size: 1_500_000 })).toEqual([['memory_size', 'memory_size_too_small']])
  expect(await api.listDatabases({})).toHaveLength(count)
})

test('a file that was changed fails the creation, and nothing is reachable', async ({ fairlead }) => {
  const { api } = fairlead
  const source = await createDatabase(fairlead, { ...small(), replication: false })
  await fill(source)
  const { name } = await backUp(fairlead, source.uid)
  const path = join(fairlead.home, 'backups', name, 'group-0.rdb')
  const bytes = await readFile(path)
  bytes[100] = (bytes[100] ?? 0) ^ 1
  writeFileSync(path, bytes)
  const { uid, action_uid } = await api.createDatabase({ body: { ...small(), from_backup: name } })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'failed' })
  const nothing = { status: 'creation-failed', endpoints: [], shard_list: [] }
  expect(await api.getDatabase({ params: { uid } })).toMatchObject(nothing)
})

test('one backup of a database is made at a time, and none while a change may move its roles', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const source = await createDatabase(fairlead, { ...small(), engine_version: older })
  await fill(source)
  const params = { uid: source.uid }
  const both = await Promise.allSettled([api.backUpDatabase({ params }), api.backUpDatabase({ params })])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'db_busy' } })
  await until('the first is done', async () => (await api.listBackups({}))[0]?.status === 'done')

  const body = { engine_version: newer, rollback_window: 'until_finalized' } as const
  const { action_uid = '' } = await api.upgradeDatabase({ params, body })
  await expect(api.backUpDatabase({ params })).rejects.toMatchObject({ code: 'db_busy' })
  const inWindow = async () => (await api.getAction({ params: { uid: action_uid } })).phase === 'window'
  await until('the rollback window is open', inWindow)
  // The primaries serve, and their standbys are of another build.
  expect(await backUp(fairlead, source.uid)).toMatchObject({ status: 'done', engine: newer.split('-')[0] })
  await api.rollbackAction({ params: { uid: action_uid } })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ outcome: 'rolled_back' })
})

test('the command line backs up, lists, restores and deletes', async ({ fairlead }) => {
  const { home } = fairlead
  const { run } = commandLine({ FAIRLEAD_HOME: home })
  const source = await createDatabase(fairlead, { ...small(), replication: false })
  const { name: database, memory_size } = source
  const before = await fill(source)
  const { code, stdout, stderr } = await run(['databases', 'backup', database, '-o', 'name'])
  const name = stdout.trim()
  expect([code, name], stderr).toEqual([0, expect.stringMatching(new RegExp(`^${database}-\\d{8}-\\d{6}$`))])
  const listed = await run(['backups', 'list', '--database', database, '--columns', 'name,status,keys'])
  expect(listed.stdout).toBe(`${name}\tdone\t${Object.keys(before).length}\n`)
  const copy = `${database}-2`
  expect(await run(['databases', 'create', copy])).toMatchObject({ code: 2 })
  const created = await run(['databases', 'create', copy, '--from-backup', name, '--json'])
  expect(JSON.parse(created.stdout)).toMatchObject({ memory_size, status: 'active' })
  expect(await run(['backups', 'delete', name])).not.toMatchObject({ code: 0 })
  expect(await run(['backups', 'delete', name, '--yes', '-o', 'name'])).toMatchObject({ code: 0 })
  expect(await run(['backups', 'list', '--database', database])).toMatchObject({ code: 0, stdout: '' })
  expect(await run(['backups', 'delete', name, '--yes'])).not.toMatchObject({ code: 0 })
})

test('a user of some databases makes and deletes backups of those, and sees none of others', async ({
  fairlead,
}) => {
  const { api, url } = fairlead
  const [own, other] = [
    await createDatabase(fairlead, { ...small(), replication: false }),
    await createDatabase(fairlead, { ...small(), replication: false }),
  ]
  const resources = [{ type: 'db' as const, uids: [String(own.uid)] }]
  const role = await api.createRole({ body: { name: freshName('own'), management: 'db_member', resources } })
  const login = { username: freshName('mia'), password: 'backs-up-its-own' }
  await api.createUser({ body: { name: login.username, password: login.password, role_uids: [role.uid] } })
  const { access_token } = await createClient(operations, fetchTransport(url, 60_000)).authorizeUser({
    body: login,
  })
  const mia = createClient(operations, fetchTransport(url, 60_000), () => access_token)

  const { name: hidden } = await backUp(fairlead, other.uid)
  const { name } = await backUp({ api: mia }, own.uid)
  expect((await mia.listBackups({})).map((one) => one.name)).toEqual([name])
  await expect(mia.getBackup({ params: { name: hidden } })).rejects.toMatchObject({
    code: 'backup_not_exist',
  })
  const elsewhere = { params: { uid: other.uid } }
  await expect(mia.backUpDatabase(elsewhere)).rejects.toMatchObject({ code: 'forbidden' })
  // Where the path names no database, a change needs a role without a limit.
  const body = { ...small(), from_backup: name }
  await expect(mia.createDatabase({ body })).rejects.toMatchObject({ code: 'forbidden' })
  await expect(mia.deleteBackup({ params: { name: hidden } })).rejects.toMatchObject({
    code: 'backup_not_exist',
  })
  expect(await mia.deleteBackup({ params: { name } })).toEqual({ name })
  expect((await api.listBackups({})).map((one) => one.name)).toContain(hidden)
  const types = (await api.listLogs({ query: { order: 'desc', limit: 50 } })).map(({ type }) => type)
  expect(types).toContain('bdb_backup_requested')
})

const MB = 1_000_000
const small = () => ({ name: freshName('backup'), memory_size: 100 * MB })

async function backUp({ api }: Pick<Fairlead, 'api'>, uid: number): Promise<Backup> {
  const { name, status } = await api.backUpDatabase({ params: { uid } })
  expect(status).toBe('running')
  let seen: Backup | undefined
  return await until(
    () => `the backup is made: ${JSON.stringify(seen)}`,
    async () => {
      seen = await api.getBackup({ params: { name } })
      return seen.status === 'running' ? undefined : seen
    },
  )
}

/** As `createDatabase` of proof, but the rest is as in the backup. */
async function restore(fairlead: Fairlead, from_backup: string, fields: object = {}): Promise<Served> {
  const { api, untilEnded } = fairlead
  const { uid, action_uid } = await api.createDatabase({ body: { ...small(), from_backup, ...fields } })
  const { status, error } = await untilEnded(action_uid)
  expect([status, error]).toEqual(['completed', error])
  const database = await api.getDatabase({ params: { uid } })
  return { ...database, password: database.authentication_engine_pass ?? '' }
}

type Login = Pick<Served, 'port' | 'password'>

async function connect({ port, password }: Login): Promise<Client & Disposable> {
  const client = await libraries['ioredis']?.connect({ host: '127.0.0.1', port, password })
  if (client === undefined) throw new Error('there is no such library')
  return { ...client, [Symbol.dispose]: () => void client.close() }
}

/** All types, in small and large form, with expiries, a group of a stream, and bytes that are no text. */
async function fill(database: Served): Promise<Readonly<Record<string, unknown>>> {
  using client = await connect(database)
  const call = (...words: readonly (string | number)[]) => client.call(...words.map(String))
  await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      await call('SET', `string-${n}`, `value ${n}`)
      await call('RPUSH', `list-${n % 3}`, `element ${n}`)
      await call('SADD', `set-${n % 3}`, `member ${n}`)
      await call('ZADD', `ranking-${n % 3}`, n, `member ${n}`)
      await call('HSET', `hash-${n % 3}`, `field ${n}`, 'x'.repeat(n))
      await call('XADD', 'stream', '*', 'n', n)
    }),
  )
  await call('SET', 'large', 'abc'.repeat(100_000))
  await call('PEXPIRE', 'string-7', 86_400_000)
  await call('XGROUP', 'CREATE', 'stream', 'workers', '0')
  await call('XREADGROUP', 'GROUP', 'workers', 'one', 'COUNT', 9, 'STREAMS', 'stream', '>')
  return await readData(client.call)
}

async function read(at: Login): Promise<Readonly<Record<string, unknown>>> {
  using client = await connect(at)
  return await readData(client.call)
}

/** Separates the numbers of the writer's keys, sorted, from the other data. */
function divide(data: Readonly<Record<string, unknown>>) {
  const written: number[] = []
  const others: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(data)) {
    const [, number] = /^w:(\d+)$/.exec(key) ?? []
    if (number === undefined) others[key] = value
    else written.push(Number(number))
  }
  return { written: written.toSorted((a, b) => a - b), others }
}

/** Writes w:0, w:1, …, each after the answer to the one before. */
async function startWriter(database: Served) {
  const client = await connect(database)
  let [asked, acknowledged, isStopped] = [0, 0, false]
  const work = (async () => {
    for (; !isStopped; acknowledged += 1) {
      asked += 1
      await client.call('SET', `w:${asked - 1}`, 'v')
    }
  })()
  return {
    acknowledged: () => acknowledged,
    /** Returns how many were sent. */
    async stop(): Promise<number> {
      isStopped = true
      await work
      await client.close()
      return asked
    },
  }
}
