import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startLoad } from '@fairlead/ledger'
import { expect, test } from 'vitest'
import { build, usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin, pidOf, rolesOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { untilAction } from '../../../proof/way-back.ts'
import { armKill } from '../../support/arm-kill.ts'
import { lossesOf } from '../../support/losses-of.ts'
import { smallDisk } from '../../support/small-disk.ts'

const { from, to } = usualPair()

/** Each of these faults once lost data, left a database stuck, or hid its reason. */

async function create(
  fairlead: Fairlead,
  body: { engine_version: string; shards_count?: number; oss_cluster?: boolean },
) {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'past-faults', memory_size: 0, replication: true, ...body },
  })
  await fairlead.untilEnded(action_uid)
  return fairlead.api.getDatabase({ params: { uid } })
}

test('the successor of a sharded group dies right after it took over, and nothing acknowledged is lost', async () => {
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
  })
  armKill(fairlead.home, { victim: 's7', when: 'after promote' })
  const database = await create(fairlead, {
    engine_version: from,
    shards_count: 3,
    oss_cluster: true,
  })
  const { uid, authentication_engine_pass: password = '' } = database
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token, groups: 'sharded' } as const
  await using load = await startLoad({ kind: 'incr', connections: 9, perSecond: 2_000, password, lookup })
  await load.untilAcked(100)
  const { action_uid } = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to },
  })
  await fairlead.untilEnded(action_uid)
  await load.untilAcked(load.acked() + 100)
  await load.stop()
  const whole = 'primary,primary,primary,replica,replica,replica'
  await until(
    'every group has a primary and a replica',
    async () => (await rolesOf(fairlead, uid)).join() === whole,
  )
  expect(await load.readBack()).toMatchObject({ lost: 0, examples: [] })
})

// invariant: No shard comes back after a crash as a second primary.
test('a successor that died right after taking over, unrecorded, does not come back empty to empty the others', async () => {
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
    env: { CRASH_WHEN: 'before promote' },
  })
  const { uid } = await create(fairlead, {
    engine_version: build('valkey', '8.0'),
    shards_count: 3,
    oss_cluster: true,
  })
  {
    using primary = await asAdmin(fairlead, 1)
    await primary.call('SET', '{3}', 'kept')
  }
  const body = { engine_version: to }
  const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
  await fairlead.server.ended
  process.kill(await pidOf(fairlead, 7), 'SIGKILL')
  pretendTakeover(join(fairlead.home, 'shards', 's7', 'data', 'nodes.conf'))
  await fairlead.server.start({ CRASH_WHEN: 'never' })

  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  for (const shard of await fairlead.api.listDatabaseShards({ params: { uid } })) {
    if (!shard.assigned_slots?.startsWith('0-')) continue
    using connection = await asAdmin(fairlead, Number(shard.uid))
    if (shard.role === 'slave') await connection.call('READONLY')
    expect(await connection.call('GET', '{3}'), `shard ${shard.uid}`).toBe('kept')
  }
})

/**
 * The nodes.conf of a replica after CLUSTER FAILOVER TAKEOVER, which it writes before it announces the
 * takeover: it has the slots of its primary, with the highest epoch.
 */
function pretendTakeover(path: string): void {
  const lines = readFileSync(path, 'utf8').split('\n')
  const own = lines.find((line) => line.includes('myself,slave'))?.split(' ') ?? []
  const primary = lines.find((line) => line.startsWith(`${own[3]} `))?.split(' ') ?? []
  const epoch = 1 + Math.max(...lines.map((line) => Number(line.split(' ')[6] ?? 0) || 0))
  const rewritten = lines.map((line) => {
    const words = line.split(' ')
    if (words[0] === 'vars') return `vars currentEpoch ${epoch} lastVoteEpoch 0`
    if (words[0] === own[0])
      return [
        ...words.slice(0, 2),
        'myself,master',
        '-',
        ...words.slice(4, 6),
        epoch,
        'connected',
        ...primary.slice(8),
      ].join(' ')
    if (words[0] === primary[0]) return words.slice(0, 8).join(' ')
    return line
  })
  writeFileSync(path, rewritten.join('\n'))
}

test('a successor that took over and died, together with the server, may have acknowledged writes that are lost: that is reported', async () => {
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
    env: { CRASH_WHEN: 'after promote' },
  })
  armKill(fairlead.home, { victim: 's3', when: 'after promote' })
  const { uid } = await create(fairlead, { engine_version: build('valkey', '8.0') })
  const body = { engine_version: to }
  const { action_uid } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
  await fairlead.server.ended
  await fairlead.server.start({ CRASH_WHEN: 'never' })

  const action = await fairlead.untilEnded(action_uid)
  expect(action.status, action.error).toBe('completed')
  expect(action.warnings).toHaveLength(1)
  expect(await lossesOf(fairlead, uid)).toMatchObject([{ type: 'bdb_primary_replaced', instead_of: '3' }])
})

test('primary and surge shard die at once: the replica takes over, and the others follow it', async () => {
  await using fairlead = await startFairlead()
  const { uid } = await create(fairlead, { engine_version: build('valkey', '8.0') })
  {
    using primary = await asAdmin(fairlead, 1)
    await primary.call('SET', 'kept', 'v')
    await primary.call('WAIT', 1, 1_000)
  }
  const { action_uid = '' } = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to, supervised: true },
  })
  await untilAction(fairlead, action_uid, 'ready', ({ needs_person }) => needs_person)
  for (const pid of [await pidOf(fairlead, 1), await pidOf(fairlead, 3)]) process.kill(pid, 'SIGKILL')

  const action = await untilAction(
    fairlead,
    action_uid,
    'ready again',
    ({ needs_person, warnings, state }) => needs_person && warnings.length > 0 && state === 'hold',
  )
  expect(action.warnings).toHaveLength(1)
  expect(await lossesOf(fairlead, uid)).toMatchObject([
    { type: 'bdb_primary_replaced', shard: '2', instead_of: '1' },
  ])
  expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica', 'replica'])
  using primary = await asAdmin(fairlead, 2)
  expect(await primary.call('GET', 'kept')).toBe('v')
})

test.runIf(process.getuid?.() === 0)(
  'on a full disk an order is answered with trouble that names the disk',
  async () => {
    using disk = smallDisk(600)
    await using fairlead = await startFairlead({ parent: disk.folder })
    const { uid } = await create(fairlead, { engine_version: from })
    const { action_uid = '' } = await fairlead.api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to, supervised: true },
    })
    await untilAction(fairlead, action_uid, 'ready', ({ needs_person }) => needs_person)
    using _ = disk.fill()
    await expect(fairlead.api.resumeAction({ params: { uid: action_uid } })).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(/disk/),
    })
  },
)

test('the error says what the target cannot load, in the engine’s own words', async () => {
  await using fairlead = await startFairlead()
  const { uid } = await create(fairlead, { engine_version: build('redis', '7.0') })
  {
    using primary = await asAdmin(fairlead, 1)
    const library = `#!lua name=old
      if redis.REDIS_VERSION_NUM >= 0x00070100 then redis.no_such_thing() end
      redis.register_function('one', function() return 1 end)`
    await primary.call('FUNCTION', 'LOAD', library)
  }
  const { action_uid } = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: build('valkey', '8.1') },
  })
  const action = await fairlead.untilEnded(action_uid)
  expect(action.status).toBe('failed')
  expect(action.error).toMatch(/Failed loading library/)
})
