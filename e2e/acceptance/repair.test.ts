import { describe, expect, test } from 'vitest'
import { asAdmin } from '../../proof/roles.ts'
import { commandLine } from '../../proof/run-command-line.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { create, kill, primaryOf, serves } from '../support/kill-shards.ts'

describe('a database repairs itself', () => {
  test('when the process of its replica dies, and later that of its primary, which is reported as a possible loss', async () => {
    await using fairlead = await startFairlead()
    const uid = await create(fairlead)
    await kill(fairlead, 2)
    await serves(fairlead, uid)
    expect(await primaryOf(fairlead, uid)).toBe(1)

    await kill(fairlead, 1)
    await until('the replica is the primary on record', async () => (await primaryOf(fairlead, uid)) === 2)
    await serves(fairlead, uid)
    const logs = await fairlead.api.listLogs({ query: { order: 'desc', limit: 200 } })
    const losses = logs.map(({ type }) => type).filter((type) => type.startsWith('bdb_primary'))
    expect(losses).toEqual(['bdb_primary_replaced'])
    const { run } = commandLine({ FAIRLEAD_HOME: fairlead.home })
    const needs = async () => JSON.parse((await run(['status', '-o', 'json'])).stdout).needs_you
    const { name } = await fairlead.api.getDatabase({ params: { uid } })
    expect(await needs()).toMatchObject([{ name, state: 'primary replaced' }])
    const seen = JSON.parse((await run(['audit', 'seen', name, '-o', 'json'])).stdout)
    expect(seen).toMatchObject([{ type: 'bdb_primary_replaced', bdb_uid: String(uid) }])
    expect(await needs()).toEqual([])
  })

  test('when all its processes die at once, from what the primary had on disk', async () => {
    await using fairlead = await startFairlead()
    const uid = await create(fairlead, { data_persistence: 'aof', aof_policy: 'appendfsync-always' })
    {
      using admin = await asAdmin(fairlead, 1)
      await admin.call('SET', 'kept', 'yes')
    }
    await kill(fairlead, 1, 2)
    await serves(fairlead, uid)
    using admin = await asAdmin(fairlead, await primaryOf(fairlead, uid))
    expect(await admin.call('GET', 'kept')).toBe('yes')
  })
})
