import { type EngineConnection, readClusterNodes, readReplication } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { whyNotKnown } from '../../../../src/core/state/slot-map.ts'
import { ADMIN_PASSWORD, builds, startTestEngine } from '../../../engine.ts'
import { meet } from '../../../meet.ts'

const settings = [
  ...['cluster-enabled yes', 'cluster-node-timeout 15000', 'cluster-require-full-coverage no'],
  ...['appendonly no', 'enable-debug-command local'],
  ...['masteruser fairlead', `masterauth ${ADMIN_PASSWORD}`],
]
const HALF = 8_192
const STEP = 1_024

const viewOf = async (shard: EngineConnection) =>
  readClusterNodes(String(await shard.call('CLUSTER', 'NODES')))
const roleOf = async (shard: EngineConnection) => readReplication(await shard.info('replication')).role

/** The slots that `of` has in the view of `shard`. */
async function slotsOf(of: EngineConnection, shard: EngineConnection): Promise<string | undefined> {
  const id = await of.call('CLUSTER', 'MYID')
  return (await viewOf(shard)).find((node) => node.id === id)?.slots
}

/** A replica that has joined the cluster of a primary, which serves the first half of the slots. */
async function join(primary: EngineConnection, replica: EngineConnection): Promise<void> {
  await primary.call('CLUSTER', 'ADDSLOTSRANGE', 0, HALF - 1)
  await meet(primary, replica, async () => (await slotsOf(primary, replica)) === `0-${HALF - 1}`)
  await replica.call('CLUSTER', 'REPLICATE', String(await primary.call('CLUSTER', 'MYID')))
  await until(
    'it holds the stream',
    async () => readReplication(await replica.info('replication')).link === 'up',
  )
}

/**
 * Whether pings are heard, of which one would learn of the other's slots. What is told at once, such as a
 * takeover, is heard in any case.
 */
async function hearPings(shards: readonly EngineConnection[], areHeard: boolean): Promise<void> {
  for (const shard of shards) await shard.call('DEBUG', 'DROP-CLUSTER-PACKET-FILTER', areHeard ? -1 : 0)
}

/** The primary takes slots, and a key in one of them. Answers the key. */
async function takeSlots(primary: EngineConnection): Promise<string> {
  const key = await keyInStep(primary)
  await primary.call('CLUSTER', 'ADDSLOTSRANGE', HALF, HALF + STEP - 1)
  await primary.call('SET', key, 'acknowledged')
  expect(await primary.call('WAIT', 1, 0)).toBe(1)
  return key
}

/** A key in one of STEP slots, except this slot. */
async function keyInStep(shard: EngineConnection, except = -1): Promise<string> {
  for (let n = 0; ; n += 1) {
    const slot = Number(await shard.call('CLUSTER', 'KEYSLOT', `key-${n}`))
    if (slot >= HALF && slot < HALF + STEP && slot !== except) return `key-${n}`
  }
}

test.each(builds.slice(-1))(
  'without the gate, a successor that does not know all slots takes only those that it knows, and there are two primaries',
  async (build) => {
    await using old = await startTestEngine(build, settings)
    await using successor = await startTestEngine(build, settings)
    await join(old.admin, successor.admin)
    const both = [old.admin, successor.admin]
    await hearPings(both, false)
    const key = await takeSlots(old.admin)
    // The gate would have refused.
    expect(whyNotKnown(await viewOf(successor.admin), [await viewOf(old.admin)])).toMatch(
      /knows the primaries of|old view/,
    )

    await successor.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
    await hearPings(both, true)
    await until(
      'the old one knows it',
      async () => (await slotsOf(successor.admin, old.admin))?.startsWith('0-') ?? false,
    )
    expect([await roleOf(old.admin), await roleOf(successor.admin)]).toEqual(['primary', 'primary'])
    // It took the slots that it knew, and that of the only key. The others stay at the old primary: writes
    // that it acknowledges never reach the successor, although it would be retired.
    const other = await keyInStep(old.admin, Number(await old.admin.call('CLUSTER', 'KEYSLOT', key)))
    expect(await old.admin.call('SET', other, 'acknowledged')).toBe('OK')
    await expect(successor.admin.call('GET', other)).rejects.toThrow(/MOVED|CLUSTERDOWN/)
    expect(await successor.admin.call('DBSIZE')).toBe(1)
  },
)
