import { describe, expect } from 'vitest'
import { usualPair } from '../../proof/engine-pairs.ts'
import { asAdmin, rolesOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { upgradeUnderLoad } from '../../proof/upgrade-under-load.ts'
import { beginUpgrade, untilAction, untilWindow } from '../../proof/way-back.ts'
import { test } from '../support/shared-fairlead.ts'

const pair = usualPair()
const load = { kind: 'incr', warmUp: 3_000, perSecond: 6_000 } as const

describe('an upgrade under load is taken back after its handovers, and nothing is lost', () => {
  test.for([
    ['of a database', {}, 2],
    ['of a sharded database', { groups: 3 }, 6],
  ] as const)('%s', async ([, shape, handovers], { fairlead }) => {
    const proof = await upgradeUnderLoad(fairlead, { ...pair, ...load, ...shape, afterwards: 'roll back' })
    const { lost, duplicated, fullSyncs, examples } = proof
    expect({ lost, duplicated, fullSyncs, examples }).toEqual({
      lost: 0,
      duplicated: 0,
      fullSyncs: 0,
      examples: [],
    })
    if (!('groups' in shape)) expect(proof.errorKinds).toEqual({})
    expect(proof.to).toBe(pair.from.replace('-', ' '))
    expect(proof.certificates).toHaveLength(handovers)
    expect(proof.action).toMatchObject({ status: 'failed', outcome: 'rolled_back' })
  })
})

test('an upgrade is finalized by a person: the way back is given up, and its standby is replaced', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const upgrade = await beginUpgrade(fairlead, pair)
  const { standby } = await untilWindow(fairlead, upgrade)
  await api.finalizeAction({ params: { uid: upgrade.action } })
  expect(await fairlead.untilEnded(upgrade.action)).toMatchObject({
    status: 'completed',
    outcome: 'completed',
    rollback_eligible: false,
    rollback_obstacle: 'ended',
  })
  const { shard_list } = await api.getDatabase({ params: { uid: upgrade.uid } })
  expect(shard_list).not.toContain(standby)
  await untilPaired(fairlead, upgrade.uid)
  await expect(api.rollbackAction({ params: { uid: upgrade.action } })).rejects.toMatchObject({
    status: 409,
    code: 'action_ended',
  })
})

test('a window in seconds ends by itself', async ({ fairlead }) => {
  const upgrade = await beginUpgrade(fairlead, pair, { rollback_window: 3 })
  const { status, last_changed_time, certificates } = await fairlead.untilEnded(upgrade.action)
  expect(status).toBe('completed')
  // Its events tell what it was in the window: a question for that may come too late.
  const held = { status: 'active', hold_reason: 'rollback_window', needs_person: false }
  expect(await statesOf(fairlead, upgrade.action)).toContainEqual(
    expect.objectContaining({ ...held, rollback_eligible: true }),
  )
  const heldMs = Date.parse(last_changed_time) - Date.parse(certificates[0]?.at ?? '')
  expect(heldMs).toBeGreaterThanOrEqual(3_000)
})

/** An engine that stalls does not tell its role in time. */
async function untilPaired(fairlead: Fairlead, uid: number): Promise<void> {
  const isPaired = async () => (await rolesOf(fairlead, uid)).join() === 'primary,replica'
  await until('a primary and a replica', isPaired)
}

/** The action after each of its changes. */
async function statesOf({ url, token }: Fairlead, action: string): Promise<readonly object[]> {
  const headers = { authorization: `Bearer ${token}` }
  const stream = await fetch(`${url}/v1/actions/${action}/events`, { headers })
  const changes = [...(await stream.text()).matchAll(/^event: action\ndata: (.*)$/gm)]
  const states: object[] = []
  for (const [, change = ''] of changes) states.push({ ...states.at(-1), ...JSON.parse(change) })
  return states
}

test('a supervised upgrade stops before the first handover; cancelled there, it has changed nothing', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const { uid, action } = await beginUpgrade(fairlead, pair, { supervised: true })
  const stop = await untilAction(fairlead, action, 'it stops', ({ needs_person }) => needs_person)
  expect(stop).toMatchObject({ hold_reason: 'supervised', certificates: [], rollback_eligible: true })
  const shards = await api.listDatabaseShards({ params: { uid } })
  expect(shards.map(({ role, engine }) => `${engine} ${role}`)).toEqual([
    'redis master',
    'redis slave',
    'valkey slave',
  ])
  await api.cancelAction({ params: { uid: action } })
  expect(await fairlead.untilEnded(action)).toMatchObject({ outcome: 'cancelled', certificates: [] })
  const { engine, status, shard_list } = await api.getDatabase({ params: { uid } })
  expect([engine, status, shard_list.length]).toEqual(['redis', 'active', 2])
  await untilPaired(fairlead, uid)
})

// invariant: A shard that skipped a command of its primary is not promoted.
test('an upgrade whose standby could not follow a command says so, is not rolled back, and can be finalized', async ({
  fairlead,
}) => {
  const { api } = fairlead
  const upgrade = await beginUpgrade(fairlead, pair)
  const { primary } = await untilWindow(fairlead, upgrade)
  using admin = await asAdmin(fairlead, primary)
  await admin.call('SET', 'compared', 'a')
  // A redis does not know this option.
  await admin.call('SET', 'compared', 'b', 'IFEQ', 'a')
  const differs = await untilAction(fairlead, upgrade.action, 'it says so', ({ rollback_eligible }) => {
    return rollback_eligible === false
  })
  expect(differs).toMatchObject({ status: 'active', rollback_obstacle: 'data_differs' })
  await expect(api.rollbackAction({ params: { uid: upgrade.action } })).rejects.toMatchObject({
    status: 409,
    code: 'rollback_not_possible',
  })
  await api.finalizeAction({ params: { uid: upgrade.action } })
  expect(await fairlead.untilEnded(upgrade.action)).toMatchObject({ outcome: 'completed' })
})
