import { type EngineConnection, readClusterNodes, readReplication } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { whyNotKnown } from '../../../../src/core/state/slot-map.ts'
import { ADMIN_PASSWORD, builds, startTestEngine } from '../../../engine.ts'

const settings = [
  ...[
    'cluster-enabled yes',
    'cluster-node-timeout 5000',
    'cluster-require-full-coverage no',
    'appendonly no',
  ],
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
  const { host, port } = replica.address
  await primary.call('CLUSTER', 'MEET', host, port)
  await until('they know each other', async () => (await slotsOf(primary, replica)) === `0-${HALF - 1}`)
  await replica.call('CLUSTER', 'REPLICATE', String(await primary.call('CLUSTER', 'MYID')))
  await until(
    'it holds the stream',
    async () => readReplication(await replica.info('replication')).link === 'up',
  )
}

/** The primary takes slots that its replica does not know, and a key in them; and more slots if gossip was faster. */
async function outrunGossip(
  primary: EngineConnection,
  replica: EngineConnection,
): Promise<{ readonly first: number; readonly key: string }> {
  for (let first = HALF; first + STEP <= 16_384; first += STEP) {
    const key = await keyIn(first, primary)
    await Promise.all([
      primary.call('CLUSTER', 'ADDSLOTSRANGE', first, first + STEP - 1),
      primary.call('SET', key, 'acknowledged'),
      primary.call('WAIT', 1, 1_000),
    ])
    if ((await slotsOf(primary, replica)) !== (await slotsOf(primary, primary))) return { first, key }
  }
  throw new Error('gossip was faster each time')
}

/** A key in one of STEP slots, except this slot. */
async function keyIn(first: number, shard: EngineConnection, except = -1): Promise<string> {
  for (let n = 0; ; n += 1) {
    const slot = Number(await shard.call('CLUSTER', 'KEYSLOT', `key-${n}`))
    if (slot >= first && slot < first + STEP && slot !== except) return `key-${n}`
  }
}

test.each(builds.slice(-1))(
  'without the gate, a successor that does not know all slots takes only those that it knows, and there are two primaries',
  async (build) => {
    await using old = await startTestEngine(build, settings)
    await using successor = await startTestEngine(build, settings)
    await join(old.admin, successor.admin)
    const { first, key } = await outrunGossip(old.admin, successor.admin)
    // The gate would have refused.
    expect(whyNotKnown(await viewOf(successor.admin), [await viewOf(old.admin)])).toMatch(
      /knows the primaries of|old view/,
    )

    await successor.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
    await until(
      'the old one knows it',
      async () => (await slotsOf(successor.admin, old.admin))?.startsWith('0-') ?? false,
    )
    expect([await roleOf(old.admin), await roleOf(successor.admin)]).toEqual(['primary', 'primary'])
    // It took the slots that it knew, and the slot of the one key that it found. The others stay at
    // the old primary, and writes that are acknowledged there never reach the successor, for which the old primary
    // would be retired.
    const other = await keyIn(first, old.admin, Number(await old.admin.call('CLUSTER', 'KEYSLOT', key)))
    expect(await old.admin.call('SET', other, 'acknowledged')).toBe('OK')
    await expect(successor.admin.call('GET', other)).rejects.toThrow(/MOVED|CLUSTERDOWN/)
    expect(await successor.admin.call('DBSIZE')).toBe(1)
  },
)
