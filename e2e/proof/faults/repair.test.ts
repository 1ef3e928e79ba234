import { type EngineConnection, EngineError } from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { findBuild } from '../../../proof/engine-pairs.ts'
import { asAdmin, specOf } from '../../../proof/roles.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { create, kill, primaryOf, serves } from '../../support/kill-shards.ts'

describe('a database repairs itself', () => {
  // invariant: An agent does not restart a primary that has replicas.
  test('when the process of its primary dies: the replica serves, and the dead shard comes back as its replica', async () => {
    await using fairlead = await startFairlead()
    const uid = await create(fairlead)
    {
      using admin = await asAdmin(fairlead, 1)
      await admin.call('SET', 'kept', 'yes')
      await admin.call('WAIT', 1, 1_000)
    }
    await kill(fairlead, 1)
    await until('the replica is the primary on record', async () => (await primaryOf(fairlead, uid)) === 2)
    await serves(fairlead, uid)
    for (const shard of [1, 2]) {
      using admin = await asAdmin(fairlead, shard)
      expect(await admin.call('GET', 'kept')).toBe('yes')
    }
  })

  test('when all its processes die at once and nothing was saved: it is empty, and says so', async () => {
    await using fairlead = await startFairlead()
    const uid = await create(fairlead)
    const told = async () => {
      const logs = await fairlead.api.listLogs({ query: { order: 'desc', limit: 200 } })
      return logs.filter(({ type, bdb_uid }) => type === 'bdb_primary_lost_memory' && bdb_uid === String(uid))
        .length
    }
    await kill(fairlead, 1, 2)
    await serves(fairlead, uid)
    await until('it is in the logs', async () => (await told()) === 1)
  })

  test('when a replica in cluster mode has lost its view of the cluster, and the others still know it', async () => {
    await using fairlead = await startFairlead()
    const uid = await create(fairlead, {
      shards_count: 3,
      oss_cluster: true,
      engine_version: findBuild('redis', '7.0'),
    })
    const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
    const replica = Number(shards.find(({ role }) => role === 'slave')?.uid)
    using admin = await asAdmin(fairlead, replica)
    // Measured: redis 7.0 and 8.0 stay unknown to each other then; valkey 8.1 joins the cluster again by
    // itself. As if it had died before its nodes.conf had the others. It keeps its id, so that gossip says
    // nothing of it.
    await admin.call('CLUSTER', 'RESET', 'SOFT')
    expect(await admin.info('replication')).toContain('role:master')
    await until('it follows again', async () => (await admin.info('replication')).includes('link_status:up'))
    let nodes = ''
    await until(
      () => `all know each other: ${nodes}`,
      async () => {
        nodes = String(await admin.call('CLUSTER', 'NODES')).trim()
        return nodes.split('\n').length === 6 && !/handshake|\bfail\b/.test(nodes)
      },
    )
  })

  test('when its replica is made to follow no primary by hand', async () => {
    await using fairlead = await startFairlead()
    const uid = await create(fairlead)
    using replica = await asAdmin(fairlead, 2)
    await replica.call('REPLICAOF', 'NO', 'ONE')
    await serves(fairlead, uid)
  })
})

describe('with two primaries that have writes of their own', () => {
  const old = findBuild('redis', '6.0')
  // CI does not have this build: redis before 6.2 has no pause of writes only.
  test.runIf(old !== undefined)(
    'a redis before 6.2 refuses further writes until a person has decided; then it accepts them',
    async () => {
      await using fairlead = await startFairlead()
      const uid = await create(fairlead, { engine_version: old })
      using primary = await asAdmin(fairlead, 1)
      using replica = await asAdmin(fairlead, 2)
      // The server is stopped, so that it repairs nothing in between.
      process.kill(fairlead.server.pid, 'SIGSTOP')
      await replica.call('REPLICAOF', 'NO', 'ONE')
      await replica.call('SET', 'mine', 'replica')
      await primary.call('SET', 'mine', 'primary')
      process.kill(fairlead.server.pid, 'SIGCONT')
      for (const shard of [primary, replica])
        await until('writes are refused', async () => (await answerToWrite(shard)) === 'NOREPLICAS')
      await replica.call('REPLICAOF', primary.address.host, specOf(fairlead.home, 1).tls?.port ?? 0)
      await until('they are taken again', async () => (await answerToWrite(primary)) === 'OK')
      await serves(fairlead, uid)
      expect(await primary.call('GET', 'mine')).toBe('primary')
    },
  )
})

/** The answer to a write: OK, or the first word of the error. */
async function answerToWrite(shard: EngineConnection): Promise<string> {
  try {
    return String(await shard.call('SET', 'asked', 'again'))
  } catch (cause) {
    return cause instanceof EngineError ? (cause.message.split(' ')[0] ?? '') : 'silence'
  }
}
