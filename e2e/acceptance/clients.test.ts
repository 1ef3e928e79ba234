import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { libraries } from '../../proof/clients/clients.ts'
import { startWork } from '../../proof/clients/work.ts'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freePort } from '../../proof/free-port.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { untilAction } from '../../proof/way-back.ts'

const { from, to } = usualPair()

for (const [name, library] of Object.entries(libraries)) {
  test.concurrent(`${name} notices neither an upgrade, nor its rollback, nor roles that are preserved`, async () => {
    await using fairlead = await startFairlead()
    const { api } = fairlead
    const body = { name: 'unnoticed', memory_size: 0, engine_version: from }
    const { uid, port, password } = await createDatabase(fairlead, body)
    const work = await startWork(library, { host: '127.0.0.1', port, password })
    const more = (count: number) => {
      const goal = work.answers() + count
      return until(`${name} goes on`, async () => work.answers() > goal)
    }
    await more(1_000)

    const first = await api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to, rollback_window: 'until_finalized' },
    })
    const action = first.action_uid ?? ''
    await untilAction(fairlead, action, 'it can be rolled back', ({ needs_person, rollback_eligible }) => {
      return needs_person && rollback_eligible === true
    })
    await more(1_000)
    await api.rollbackAction({ params: { uid: action } })
    expect(await fairlead.untilEnded(action)).toMatchObject({ error: expect.stringMatching(/rolled back/) })
    await more(1_000)

    const second = await api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to, preserve_roles: true },
    })
    const { status, certificates } = await fairlead.untilEnded(second.action_uid)
    expect(status).toBe('completed')
    expect(certificates.length).toBe(2)
    await more(1_000)

    const { longestStallMs, ...found } = await work.stop()
    expect(found).toEqual({ wrong: [], reconnects: 0 })
    // No client waited until a time limit. bench/clients measures how long they wait.
    expect(longestStallMs).toBeLessThan(30_000)
    expect((await api.getDatabase({ params: { uid } })).port).toBe(port)
  })
}

test('a client that knows nothing of clusters does not notice that a sharded database is upgraded', async () => {
  await using fairlead = await startFairlead()
  const { api } = fairlead
  const created = await api.createDatabase({
    body: { name: 'sharded', memory_size: 0, replication: true, shards_count: 3, engine_version: from },
  })
  await fairlead.untilEnded(created.action_uid)
  const database = await api.getDatabase({ params: { uid: created.uid } })
  expect(database).toMatchObject({ oss_cluster: false, endpoints: [{ port: database.port }] })
  const { uid, port, authentication_engine_pass: password = '' } = database
  const library = libraries['ioredis']
  if (library === undefined) throw new Error('ioredis is not among the libraries')
  const work = await startWork(library, { host: '127.0.0.1', port, password })
  await until('it is at work', async () => work.answers() > 1_000)
  const { action_uid } = await api.upgradeDatabase({ params: { uid }, body: { engine_version: to } })
  const { status, certificates } = await fairlead.untilEnded(action_uid)
  expect(status).toBe('completed')
  expect(certificates.map(({ held_ms }) => held_ms)).toEqual(Array(3).fill(expect.any(Number)))
  const after = work.answers()
  await until('it goes on', async () => work.answers() > after + 1_000)
  expect(await work.stop()).toMatchObject({ wrong: [], reconnects: 0 })
})

test('a client that asks a Sentinel connects to the primary itself, and follows it', async () => {
  const sentinelPort = await freePort()
  await using fairlead = await startFairlead({ env: { FAIRLEAD_SENTINEL_PORT: String(sentinelPort) } })
  const { api } = fairlead
  const created = await api.createDatabase({
    body: { name: 'direct', memory_size: 0, replication: true, engine_version: from },
  })
  await fairlead.untilEnded(created.action_uid)
  const { uid, authentication_engine_pass: password = '' } = await api.getDatabase({
    params: { uid: created.uid },
  })
  const client = new Redis({
    sentinels: [{ host: '127.0.0.1', port: sentinelPort }],
    name: 'direct',
    username: 'default',
    password,
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  })
  await using _ = { [Symbol.asyncDispose]: async () => client.disconnect() }
  expect(await client.set('a', '1')).toBe('OK')
  const shardOf = () => client.stream.remotePort
  const before = shardOf()
  const { action_uid } = await api.upgradeDatabase({ params: { uid }, body: { engine_version: to } })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  await until('it writes to the new primary', async () => {
    const answer = await client.set('a', '2').catch(() => 'not yet')
    return answer === 'OK' && shardOf() !== before
  })
  expect(await client.get('a')).toBe('2')
})
