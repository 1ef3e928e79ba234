import type { Action, Shard } from '@fairlead/api'
import { readReplication } from '@fairlead/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build, findBuild, hasWayBack, usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin, pidOf, rolesOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { beginUpgrade, type Underway, untilAction, untilWindow } from '../../../proof/way-back.ts'

const redis80 = findBuild('redis', '8.0')
/** CI does not have this build. */
const redis60 = findBuild('redis', '6.0')
const valkey80 = build('valkey', '8.0')
/** Redis 7.0 and valkey 8.1, unless PAIR asks for others. */
const asked = usualPair()
const { to: newer } = asked
/** A pair of PAIR may have no way back: only the test of redis 6.0 runs then. */
const older = hasWayBack(asked) ? asked.from : build('redis', '7.0')

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const eligible = ({ rollback_eligible }: Action) => rollback_eligible === true
const notEligible = ({ rollback_eligible }: Action) => rollback_eligible === false

async function expectRefusedRollback({ action }: Underway): Promise<void> {
  await expect(fairlead.api.rollbackAction({ params: { uid: action } })).rejects.toMatchObject({
    status: 409,
    code: 'rollback_not_possible',
  })
}

/** Then people can still stay on the new version. */
async function expectFinalizes({ uid, action }: Underway, version: string): Promise<void> {
  await fairlead.api.finalizeAction({ params: { uid: action } })
  const end = await fairlead.untilEnded(action)
  expect(end.status, end.error).toBe('completed')
  const { engine, engine_version } = await fairlead.api.getDatabase({ params: { uid } })
  expect(`${engine}-${engine_version}`).toBe(version)
  expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica'])
}

describe('an upgrade says that it cannot be rolled back, and why, as soon as', () => {
  test('its standby was restarted: it is not known what it missed', async () => {
    const upgrade = await beginUpgrade(fairlead, { from: valkey80, to: newer })
    const { standby } = await untilWindow(fairlead, upgrade)
    process.kill(await pidOf(fairlead, standby), 'SIGKILL')
    await untilAction(fairlead, upgrade.action, 'the action reports the restart', (seen) => {
      return notEligible(seen) && seen.rollback_obstacle === 'data_differs'
    })
    await expectRefusedRollback(upgrade)
    await expectFinalizes(upgrade, newer)
  })

  test('its standby cannot follow any more after a restart, because it is older', async () => {
    const upgrade = await beginUpgrade(fairlead, { from: older, to: newer })
    const { standby } = await untilWindow(fairlead, upgrade)
    process.kill(await pidOf(fairlead, standby), 'SIGKILL')
    await untilAction(fairlead, upgrade.action, 'the standby is missed', notEligible)
    await until('it runs again', () => pidOf(fairlead, standby).catch(() => undefined))
    await expectRefusedRollback(upgrade)
    await expectFinalizes(upgrade, newer)
  })

  test('its standby lost its link; and that it can again when the link is back', async () => {
    const upgrade = await beginUpgrade(fairlead, { from: older, to: newer })
    const { standby } = await untilWindow(fairlead, upgrade)
    using admin = await asAdmin(fairlead, standby)
    const [, secret] = (await admin.call('CONFIG', 'GET', 'masterauth')) as [string, string]
    await admin.call('CONFIG', 'SET', 'masterauth', 'wrong')
    await admin.call('CLIENT', 'KILL', 'TYPE', 'master')
    const { rollback_obstacle } = await untilAction(fairlead, upgrade.action, 'no link', notEligible)
    expect(rollback_obstacle).toBe('standby_unlinked')
    await expectRefusedRollback(upgrade)

    await admin.call('CONFIG', 'SET', 'masterauth', secret)
    await untilAction(fairlead, upgrade.action, 'the link is back', eligible)
    await fairlead.api.rollbackAction({ params: { uid: upgrade.action } })
    const end = await fairlead.untilEnded(upgrade.action)
    expect(end).toMatchObject({ status: 'failed', outcome: 'rolled_back' })
    expect(end.certificates.map(({ to, full_syncs }) => [to, full_syncs])).toEqual([
      [end.certificates[0]?.to, 0],
      [String(standby), 0],
    ])
  })

  test('its standby is stopped; and that it can again when it is resumed', async () => {
    const upgrade = await beginUpgrade(fairlead, { from: valkey80, to: newer })
    const { standby } = await untilWindow(fairlead, upgrade)
    const pid = await pidOf(fairlead, standby)
    process.kill(pid, 'SIGSTOP')
    try {
      await untilAction(fairlead, upgrade.action, 'it is missed', notEligible)
      await expectRefusedRollback(upgrade)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await untilAction(fairlead, upgrade.action, 'it is back', eligible)
    await expectFinalizes(upgrade, newer)
  })

  test.runIf(redis60 !== undefined)(
    'its standby is a redis before 6.2, which keeps old values and counts no error; its replicas are replaced',
    async () => {
      const upgrade = await beginUpgrade(fairlead, { from: redis60 ?? older, to: newer })
      await untilAction(fairlead, upgrade.action, 'the role has moved', (action) => {
        return action.certificates.length === 1 && action.needs_person && notEligible(action)
      })
      await expectRefusedRollback(upgrade)
      const shards = () => fairlead.api.listDatabaseShards({ params: { uid: upgrade.uid } })
      const standby = (await shards()).find(({ engine }) => engine === 'redis')
      const primary = (await shards()).find(({ role }) => role === 'master')
      {
        using old = await asAdmin(fairlead, Number(standby?.uid))
        using admin = await asAdmin(fairlead, Number(primary?.uid))
        await admin.call('SET', 'session', 'first')
        await admin.call('SET', 'session', 'second', 'EX', 1_000)
        await admin.call('SET', 'behind', 'it')
        await until('it has heard all', async () => (await old.call('GET', 'behind')) === 'it')
        expect(await old.call('GET', 'session')).toBe('first')
      }
      await expectFinalizes(upgrade, newer)
      const replica = (await shards()).find(({ role }) => role === 'slave')
      using fresh = await asAdmin(fairlead, Number(replica?.uid))
      expect(await fresh.call('GET', 'session')).toBe('second')
    },
  )

  const newCommands = [
    { to: newer, commands: [['SET', 'compared', 'b', 'IFEQ', 'a']] },
    { to: redis80, commands: [['HPEXPIRE', 'hash', '600000', 'FIELDS', '1', 'field']] },
  ] as const
  for (const { to, commands } of newCommands) {
    test.skipIf(to === undefined)(`a command was replicated that it does not know (${to})`, async () => {
      const upgrade = await beginUpgrade(fairlead, { from: older, to: to ?? newer })
      const { primary } = await untilWindow(fairlead, upgrade)
      using admin = await asAdmin(fairlead, primary)
      await admin.call('SET', 'compared', 'a')
      await admin.call('HSET', 'hash', 'field', '1')
      await untilAction(fairlead, upgrade.action, 'both know these', eligible)
      for (const [name, ...args] of commands) await admin.call(name, ...args)
      const { rollback_obstacle } = await untilAction(fairlead, upgrade.action, 'it says so', notEligible)
      expect(rollback_obstacle).toBe('data_differs')
      await expectRefusedRollback(upgrade)
      await expectFinalizes(upgrade, to ?? newer)
    })
  }
})

describe('a person stops an upgrade', () => {
  test('during a pause it begins nothing new, but an engine that dies is started again', async () => {
    const { uid, action } = await beginUpgrade(fairlead, asked, {})
    await fairlead.api.pauseAction({ params: { uid: action } })
    const paused = await untilAction(fairlead, action, 'it is paused', ({ state }) => state === 'hold')
    expect(paused).toMatchObject({ paused: true, needs_person: true, certificates: [] })
    const before = await fairlead.api.listDatabaseShards({ params: { uid } })
    const primary = Number(before.find(({ role }) => role === 'master')?.uid)
    const replica = Number(before.find(({ role }) => role === 'slave')?.uid)
    const pid = await pidOf(fairlead, replica)
    process.kill(pid, 'SIGKILL')
    await until('another process stands in its place, linked', async () => {
      if ((await pidOf(fairlead, replica).catch(() => pid)) === pid) return false
      using admin = await asAdmin(fairlead, replica)
      return readReplication(await admin.info('replication')).link === 'up'
    })
    expect(await fairlead.api.getAction({ params: { uid: action } })).toMatchObject({
      status: 'active',
      paused: true,
      certificates: [],
    })
    const meanwhile = await fairlead.api.listDatabaseShards({ params: { uid } })
    expect(meanwhile.map((shard) => shard.uid)).toEqual(before.map((shard) => shard.uid))
    expect(Number(meanwhile.find(({ role }) => role === 'master')?.uid)).toBe(primary)
    await fairlead.api.resumeAction({ params: { uid: action } })
    const end = await fairlead.untilEnded(action)
    expect(end.status, end.error).toBe('completed')
  })

  test('supervised, it stops before the first handover; cancelled there, it has changed nothing', async () => {
    const upgrade = await beginUpgrade(fairlead, asked, { supervised: true })
    const { uid, action } = upgrade
    const stop = await untilAction(fairlead, action, 'it stops', ({ needs_person }) => needs_person)
    expect(stop).toMatchObject({
      state: 'hold',
      hold_reason: 'supervised',
      certificates: [],
      rollback_eligible: true,
    })
    const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
    expect(shards.map(({ role, engine }) => `${engine} ${role}`)).toEqual([
      'redis master',
      'redis slave',
      'valkey slave',
    ])
    using admin = await asAdmin(fairlead, Number(shards[0]?.uid))
    await admin.call('SET', 'kept', 'yes')

    await fairlead.api.cancelAction({ params: { uid: action } })
    const end = await fairlead.untilEnded(action)
    expect(end).toMatchObject({ status: 'failed', outcome: 'cancelled', certificates: [] })
    const after = await fairlead.api.listDatabaseShards({ params: { uid } })
    expect(after.map(withoutFigures)).toEqual(shards.slice(0, 2).map(withoutFigures))
    expect(await rolesOf(fairlead, uid)).toEqual(['primary', 'replica'])
    expect(await admin.call('GET', 'kept')).toBe('yes')
    expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({
      status: 'active',
      engine: 'redis',
    })
  })

  test('a rollback window in seconds ends by itself', async () => {
    const upgrade = await beginUpgrade(fairlead, asked, { rollback_window: 8 })
    await untilWindow(fairlead, upgrade, hasWayBack(asked))
    const held = await fairlead.api.getAction({ params: { uid: upgrade.action } })
    expect(held).toMatchObject({
      status: 'active',
      hold_reason: 'rollback_window',
      needs_person: false,
    })
    expect(held.waiting_for).toMatch(/standbys until \d{4}-\d\d-\d\dT[\d:]+Z/)
    const end = await fairlead.untilEnded(upgrade.action)
    expect(end.status, end.error).toBe('completed')
    const heldMs = Date.parse(end.last_changed_time) - Date.parse(end.certificates[0]?.at ?? '')
    expect(heldMs).toBeGreaterThanOrEqual(8_000)
    const shards = await fairlead.api.listDatabaseShards({ params: { uid: upgrade.uid } })
    expect(shards.map(({ engine }) => engine)).toEqual(['valkey', 'valkey'])
  })
})

/** A shard as it is, without what changes by itself. */
function withoutFigures({ offset: _, lag_bytes: __, used_memory: ___, ...shard }: Shard) {
  return shard
}
