import type { Body, updateDatabase } from '@fairlead/api'
import { startLoad } from '@fairlead/ledger'
import { expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { asAdmin, pidOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { test } from '../support/shared-fairlead.ts'

const plain = { memory_size: 0, replication: false, data_persistence: 'disabled' } as const

async function change(fairlead: Fairlead, uid: number, body: Body<typeof updateDatabase>) {
  const { action_uid, ...after } = await fairlead.api.updateDatabase({ params: { uid }, query: {}, body })
  expect(after).toMatchObject({ ...body, status: 'active-change-pending' })
  const ended = await fairlead.untilEnded(action_uid)
  expect(ended).toMatchObject({ name: 'SMUpdateBDB', status: 'completed', progress: 100, warnings: [] })
}

async function shardsOf({ api }: Fairlead, uid: number) {
  return await api.listDatabaseShards({ params: { uid } })
}

test('replicas come and go, and data is saved in another way, while clients write and notice nothing', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const { uid, password } = await createDatabase(fairlead, { name: freshName('change'), ...plain })
  const [first] = await shardsOf(fairlead, uid)
  const pid = await pidOf(fairlead, Number(first?.uid))
  await using load = await startLoad({
    kind: 'incr',
    connections: 20,
    perSecond: 10_000,
    password,
    lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
  })
  const writeOn = () => load.untilAcked(load.acked() + 2_000)
  await writeOn()
  const changes: readonly Body<typeof updateDatabase>[] = [
    { replication: true },
    { data_persistence: 'aof', aof_policy: 'appendfsync-always' },
    { data_persistence: 'snapshot', snapshot_policy: [{ secs: 600, writes: 1 }] },
    { replication: false, data_persistence: 'disabled' },
    { replication: true, data_persistence: 'aof' },
  ]
  for (const body of changes) {
    await change(fairlead, uid, body)
    await writeOn()
  }
  const report = await load.stop()
  expect({ errors: report.errors, reconnects: report.reconnects }).toEqual({ errors: {}, reconnects: 0 })
  const shards = await shardsOf(fairlead, uid)
  expect(shards.map(({ role }) => role).toSorted()).toEqual(['master', 'slave'])
  const replica = shards.find(({ role }) => role === 'slave')
  for (const verdict of [
    await load.readBack(),
    await load.readBack({ address: { host: '127.0.0.1', port: replica?.port ?? 0 } }),
  ])
    expect(verdict).toMatchObject({ lost: 0, duplicated: 0 })
  expect(await pidOf(fairlead, Number(first?.uid)), 'its process went on').toBe(pid)
  expect(await api.getDatabase({ params: { uid } })).toMatchObject({ status: 'active', replication: true })
})

test('what is acknowledged after a database began to save each write outlives the death of its only process', async ({
  fairlead,
}) => {
  const { uid, password } = await createDatabase(fairlead, { name: freshName('change'), ...plain })
  await change(fairlead, uid, { data_persistence: 'aof', aof_policy: 'appendfsync-always' })
  await using load = await startLoad({
    kind: 'incr',
    connections: 20,
    perSecond: 5_000,
    password,
    lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
  })
  await load.untilAcked(2_000)
  const [shard] = await shardsOf(fairlead, uid)
  process.kill(await pidOf(fairlead, Number(shard?.uid)), 'SIGKILL')
  await load.untilAcked(load.acked() + 2_000)
  await load.stop()
  expect(await load.readBack()).toMatchObject({ lost: 0 })
})

test('a change is taken back by a user, and foreseen by a dry run', async ({ fairlead }) => {
  const { api } = fairlead
  const { uid } = await createDatabase(fairlead, { name: freshName('change'), ...plain })
  const params = { uid }
  const body = { replication: true, data_persistence: 'aof', aof_policy: 'appendfsync-always' } as const
  expect(await api.updateDatabase({ params, query: { dry_run: 'true' }, body })).toMatchObject(body)
  expect(await api.getDatabase({ params })).toMatchObject({ replication: false, status: 'active' })

  const { action_uid = '' } = await api.updateDatabase({ params, query: {}, body })
  await expect(
    api.updateDatabase({ params, query: {}, body: { data_persistence: 'snapshot' } }),
  ).rejects.toMatchObject({
    code: 'db_busy',
  })
  await api.cancelAction({ params: { uid: action_uid } })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ outcome: 'cancelled' })
  expect(await api.getDatabase({ params })).toMatchObject({
    ...plain,
    aof_policy: 'appendfsync-every-sec',
    status: 'active',
  })
  const [shard] = await shardsOf(fairlead, uid)
  using admin = await asAdmin(fairlead, Number(shard?.uid))
  expect(await admin.call('CONFIG', 'GET', 'appendonly')).toEqual(['appendonly', 'no'])
  await until('there is one shard', async () => (await shardsOf(fairlead, uid)).length === 1)
})

test('the rules of the present way to save are in force at once, without an action', async ({ fairlead }) => {
  const { api } = fairlead
  const saved = { ...plain, data_persistence: 'snapshot' } as const
  const { uid } = await createDatabase(fairlead, { name: freshName('change'), ...saved })
  const body: Body<typeof updateDatabase> = {
    snapshot_policy: [{ secs: 120, writes: 5 }],
    aof_policy: 'appendfsync-always',
  }
  const answer = await api.updateDatabase({ params: { uid }, query: {}, body })
  expect(answer).toMatchObject({ ...body, status: 'active' })
  expect(answer).not.toHaveProperty('action_uid')
  const [shard] = await shardsOf(fairlead, uid)
  await until('its process has them', async () => {
    using admin = await asAdmin(fairlead, Number(shard?.uid))
    const [, save] = (await admin.call('CONFIG', 'GET', 'save')) as readonly string[]
    return save === '120 5'
  })
})
