import { join } from 'node:path'
import { startLoad } from '@fairlead/ledger'
import { describe, expect, test } from 'vitest'
import { usualPair } from '../../proof/engine-pairs.ts'
import { rolesOf } from '../../proof/roles.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'

const { from, to } = usualPair()

describe('a process that dies in the middle of a handover leaves one primary, and the upgrade goes on', () => {
  const cases = [
    // The pause may still hold writes that the successor has not received: these are not acknowledged.
    { part: 'the old primary', shard: 's1', when: 'after pause', mayLose: true },
    { part: 'the old primary', shard: 's1', when: 'after demote', mayLose: false },
    { part: 'the old primary', shard: 's1', when: 'after promote', mayLose: false },
    { part: 'a sibling', shard: 's2', when: 'after pause', mayLose: false },
    // The old primary has stepped down, and becomes primary again: the successor never served, and no loss is reported.
    { part: 'the successor', shard: 's3', when: 'before demote', mayLose: false },
    { part: 'the endpoint', shard: 'proxy', when: 'after hold-endpoint', mayLose: false },
    { part: 'the endpoint', shard: 'proxy', when: 'after promote', mayLose: false },
    // In a group of three, the first to hand over; its successor is the first surge shard.
    { part: 'the old primary', shard: 's1', when: 'after pause', mayLose: true, groups: 3 },
    { part: 'the old primary', shard: 's1', when: 'after promote', mayLose: false, groups: 3 },
    { part: 'a sibling', shard: 's4', when: 'after pause', mayLose: false, groups: 3 },
    { part: 'the successor', shard: 's7', when: 'after pause', mayLose: false, groups: 3 },
  ]
  for (const { part, shard, when, mayLose, groups = 1 } of cases) {
    // Most of this time is spent waiting for deadlines.
    test.concurrent(`${part}${groups > 1 ? ' of a group of a sharded database' : ''}, ${when}`, async () => {
      await using fairlead = await startFairlead({
        serverMain: join(import.meta.dirname, '../support/crash-main.ts'),
        env: { KILL_SHARD: shard, KILL_WHEN: when },
      })
      const { api } = fairlead
      const created = await api.createDatabase({
        body: {
          name: 'killed',
          memory_size: 0,
          replication: true,
          engine_version: from,
          shards_count: groups,
          ...(groups > 1 && { oss_cluster: true }),
        },
      })
      await fairlead.untilEnded(created.action_uid)
      const { uid, authentication_engine_pass: password = '' } = await api.getDatabase({
        params: { uid: created.uid },
      })
      const lookup = {
        url: `${fairlead.url}/v1/bdbs/${uid}`,
        token: fairlead.token,
        groups: groups > 1 ? ('sharded' as const) : ('one' as const),
      }
      await using load = await startLoad({ kind: 'incr', connections: 8, perSecond: 2_000, password, lookup })
      await load.untilAcked(100)
      const upgrade = await api.upgradeDatabase({
        params: { uid },
        body: { engine_version: to },
      })
      const action = await fairlead.untilEnded(upgrade.action_uid)
      expect(action.status, action.error).toBe('completed')
      await load.untilAcked(load.acked() + 100)
      await load.stop()
      const whole = [...Array(groups).fill('primary'), ...Array(groups).fill('replica')].join()
      await until('one primary and one replica a group', async () => {
        return (await rolesOf(fairlead, uid)).join() === whole
      })
      const verdict = await load.readBack()
      expect(verdict).toMatchObject({ duplicated: 0 })
      if (!mayLose) expect(verdict).toMatchObject({ lost: 0 })
      if (verdict.lost > 0) expect(action.warnings.join()).toContain('are lost')
      if (part === 'the successor') expect(action.warnings).toEqual([])
    })
  }
})

/** Nothing that clients wait for may take longer. */
const REPLY_WITHIN_MS = 60_000

describe('agent and server may die while clients are held: clients keep their connections, and wait for neither while there is a primary', () => {
  const cases = [
    {
      part: 'agent',
      when: 'after hold-endpoint',
      hasPrimary: true,
      env: { KILL_SHARD: 'agent', KILL_WHEN: 'after hold-endpoint' },
    },
    {
      // The handover goes on when the agent, through which engines are reached, is back.
      part: 'agent',
      when: 'after demote',
      hasPrimary: false,
      env: { KILL_SHARD: 'agent', KILL_WHEN: 'after demote' },
    },
    {
      part: 'server',
      when: 'after hold-endpoint',
      hasPrimary: true,
      env: { CRASH_WHEN: 'after hold-endpoint' },
    },
  ] as const
  for (const { part, when, hasPrimary, env } of cases) {
    test.concurrent(`the ${part}, ${when}`, async () => {
      await using fairlead = await startFairlead({
        serverMain: join(import.meta.dirname, '../support/crash-main.ts'),
        env,
      })
      const { api } = fairlead
      const created = await api.createDatabase({
        body: {
          name: 'undecided',
          memory_size: 0,
          replication: true,
          engine_version: from,
        },
      })
      await fairlead.untilEnded(created.action_uid)
      const { uid, authentication_engine_pass: password = '' } = await api.getDatabase({
        params: { uid: created.uid },
      })
      const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
      const pace = { connections: 8, perSecond: 2_000, replyWithinMs: REPLY_WITHIN_MS }
      await using load = await startLoad({ kind: 'incr', ...pace, password, lookup })
      await load.untilAcked(100)
      const ended = fairlead[part].ended
      const upgrade = await api.upgradeDatabase({
        params: { uid },
        body: { engine_version: to, rollback_window: 0 },
      })
      await ended
      // While there is a primary, clients need no process besides it and the proxy: a hold that no process ends, ends by itself.
      if (hasPrimary) await load.untilAcked(load.acked() + 1_000)
      await fairlead[part].start({ CRASH_WHEN: '' })
      const action = await fairlead.untilEnded(upgrade.action_uid)
      expect(action.status, action.error).toBe('completed')
      await load.untilAcked(load.acked() + 100)
      const { errors, reconnects, refused, unknown } = await load.stop()
      expect({ errors, reconnects, refused, unknown }).toEqual({
        errors: {},
        reconnects: 0,
        refused: 0,
        unknown: 0,
      })
      expect(await load.readBack()).toMatchObject({ lost: 0, duplicated: 0 })
      await until('one primary and one replica', async () => {
        return (await rolesOf(fairlead, uid)).join() === 'primary,replica'
      })
    })
  }
})
