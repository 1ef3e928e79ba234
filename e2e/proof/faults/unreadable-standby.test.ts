import { numberOf, readInfo } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { build, usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin, pidOf, rolesOf } from '../../../proof/roles.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { beginUpgrade, untilAction } from '../../../proof/way-back.ts'

const usual = usualPair()
/** The newer build writes the format of the older one, except for a hash whose fields expire. */
const withFieldTimes = { from: build('valkey', '8.1'), to: build('valkey', '9') }
/** A look at the log each second, and a turn. Each sync of these engines takes some 50 ms. */
const MOST_SYNCS = 120

test.each([
  { ...usual, shards_count: 1, first: ['PING'] },
  { ...usual, shards_count: 2, first: ['PING'] },
  { ...withFieldTimes, shards_count: 1, first: ['HSETEX', 'h', 'EX', '10000', 'FIELDS', '1', 'f', 'v'] },
])(
  'standbys that die in the window, and cannot read the data of the new build, are given up: $from → $to, $shards_count groups',
  async ({ from, to, shards_count, first }) => {
    await using fairlead = await startFairlead()
    const shape = { shards_count, memory_size: 60_000_000 }
    const policy = { rollback_window: 'until_finalized' }
    const { uid, action } = await beginUpgrade(fairlead, { from, to }, policy, shape)
    await untilAction(
      fairlead,
      action,
      'it can go back',
      ({ phase, orders }) => phase === 'window' && orders.rollback.ok,
    )
    await atPrimary(first)
    const old = await oldShards()
    expect(old).toHaveLength(2 * shards_count)
    for (const shard of old) process.kill(await pidOf(fairlead, shard), 'SIGKILL')

    const told = await untilAction(
      fairlead,
      action,
      'all are given up',
      ({ warnings }) => warnings.length === old.length,
    )
    for (const shard of old)
      expect(told.warnings).toContainEqual(
        expect.stringMatching(new RegExp(`^shard ${shard} is given up: .*(RDB|store key)`)),
      )
    await until(
      'others have taken their places',
      async () => (await rolesOf(fairlead, uid)).length === 2 * shards_count,
    )
    const ended = await untilAction(fairlead, action, 'it is completed', ({ phase }) => phase === 'ended')
    expect(await mostSyncs()).toBeLessThan(MOST_SYNCS)
    expect(ended).toMatchObject({ status: 'completed', rollback_eligible: false })
    const roles = Array.from({ length: shards_count }, () => ['primary', 'replica']).flat()
    expect(await rolesOf(fairlead, uid)).toEqual(roles.toSorted())

    async function oldShards(): Promise<readonly number[]> {
      const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
      const old: number[] = []
      for (const { uid: shard } of shards) {
        using admin = await asAdmin(fairlead, Number(shard))
        const role = await admin.call('ROLE')
        if (Array.isArray(role) && role[0] === 'slave') old.push(Number(shard))
      }
      return old
    }

    async function atPrimary([command = '', ...args]: readonly string[]): Promise<void> {
      for (const { uid: shard, role } of await fairlead.api.listDatabaseShards({ params: { uid } })) {
        if (role !== 'master') continue
        using admin = await asAdmin(fairlead, Number(shard))
        await admin.call(command, ...args)
      }
    }

    async function mostSyncs(): Promise<number> {
      const counts: number[] = []
      for (const { uid: shard } of await fairlead.api.listDatabaseShards({ params: { uid } })) {
        using admin = await asAdmin(fairlead, Number(shard))
        counts.push(numberOf(readInfo(await admin.info('stats')), 'sync_full'))
      }
      return Math.max(...counts)
    }
  },
)
