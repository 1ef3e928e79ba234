import { Refusal } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ObservedGroup } from '../../../../src/core/state/topology.ts'
import { createDeletions } from '../../../../src/fleet/endpoints/deletions-service.ts'
import { databasesStore } from '../../../../src/fleet/stores/databases-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'
import { databaseOf, shardOf } from '../../../records.ts'
import { goalOf, groupOf } from '../../../simulation/group.ts'

const database = databaseOf({ clientsKnowShards: false, endpointPort: 11_000, memoryBytes: 5e6 })
const shards = [shardOf(1), shardOf(2), shardOf(3)]
const upgrade = { uid: 'a-1', kind: 'upgrade', goal: goalOf({ homes: [2] }) }

/** The primary is shard 1. */
function deletionsOf(
  parts: { action?: object; group?: ObservedGroup; clients?: () => Promise<number> } = {},
) {
  const { action, group = groupOf(2), clients = async () => 7 } = parts
  const databases = { get: async () => ({ database, shards, action }) }
  const endpoints = { stats: async () => ({ connections: await clients() }) }
  return createDeletions({ databases, endpoints, look: async () => ({ groups: [group] }) } as never)
}

test('a dry run tells of clients, keys, followers and memory', async () => {
  expect(await deletionsOf().foresee(1)).toMatchObject({
    obstacles: [],
    clients: 7,
    keys: 100,
    shards: 3,
    replicas: [2, 3],
    standbys: [],
    actionUid: null,
    savedAt: null,
    memoryUsedBytes: 3e6,
    memoryReservedBytes: 10e6,
  })
})

test('an action that runs is in the way, and an old primary that an upgrade keeps is a standby', async () => {
  expect(await deletionsOf({ action: upgrade }).foresee(1)).toMatchObject({
    actionUid: 'a-1',
    replicas: [3],
    standbys: [2],
    obstacles: [{ code: 'db_busy', message: expect.stringContaining('a-1') }],
  })
})

test('the last snapshot is the newest of each group; without one in a group there is none', async () => {
  const saved = (lastAt: number | null) => {
    const group = groupOf(1)
    const shardsSaved = group.shards.map((shard) =>
      shard.engine === null || shard.id === 1
        ? shard
        : { ...shard, engine: { ...shard.engine, saving: { state: 'idle' as const, lastAt } } },
    )
    return { ...group, shards: shardsSaved }
  }
  expect((await deletionsOf({ group: saved(1e12) }).foresee(1)).savedAt).toBe(1e12)
  expect((await deletionsOf({ group: saved(null) }).foresee(1)).savedAt).toBeNull()
})

test('what does not answer is not known, and nothing else', async () => {
  const group = groupOf(2)
  const silent = {
    ...group,
    shards: group.shards.map((shard) => (shard.id === 1 ? { ...shard, engine: null } : shard)),
  }
  const away = () => Promise.reject(new Refusal('unavailable'))
  expect(await deletionsOf({ group: silent, clients: away }).foresee(1)).toMatchObject({
    obstacles: [],
    clients: null,
    keys: null,
    memoryUsedBytes: null,
    replicas: [2, 3],
  })
})

let fairlead: TestControlPlane
beforeAll(async () => {
  fairlead = await startControlPlane()
  await fairlead.withStore(async ({ db }) => {
    await databasesStore(db).insert({ ...databaseOf({ name: 'orders' }), groups: 1 })
    await databasesStore(db).setStatus(1, 'active', '2026-11-21T12:00:00.000Z')
  })
})
afterAll(() => fairlead[Symbol.asyncDispose]())

test('over HTTP a dry run changes nothing, and without an agent says what is not known', async () => {
  const auth = await fairlead.signIn('admin', adminPassword)
  for (const path of ['/v1/bdbs/1?dry_run', '/v1/bdbs/1?dry_run=true']) {
    const { status, body } = await fairlead.send('DELETE', path, { auth })
    expect(status).toBe(200)
    expect(body).toMatchObject({ uid: 1, plan: { possible: true, clients: null, keys: null, shards: 0 } })
    expect(body).not.toHaveProperty('action_uid')
  }
  expect((await fairlead.send('GET', '/v1/bdbs/1', { auth })).body).toMatchObject({ status: 'active' })
  expect((await fairlead.send('DELETE', '/v1/bdbs/1?dry_run=maybe', { auth })).status).toBe(400)
  expect((await fairlead.send('DELETE', '/v1/bdbs/2?dry_run', { auth })).status).toBe(404)
  const begun = await fairlead.send('DELETE', '/v1/bdbs/1?dry_run=false', { auth })
  expect(begun.body).toMatchObject({ uid: 1, action_uid: expect.any(String) })
})
