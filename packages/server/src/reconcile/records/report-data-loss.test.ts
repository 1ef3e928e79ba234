import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import type { Database } from '../../core/state/database.ts'
import { isLive, type ObservedGroup } from '../../core/state/topology.ts'
import { reportPromotionLoss, reportRestartLoss } from './report-data-loss.ts'

const redis6 = { build: { flavour: 'redis', version: '6.0.16' }, restartNonce: 0, modules: [] }

/** Shard 1, the primary, is gone, and shard 2 stands at offset 80 of a history that is on record up to 90. */
function promoted(older = {}): ObservedGroup {
  const seen = groupOf(1)
  const shards = seen.shards.map((shard) => {
    if (shard.id === 1 || !isLive(shard))
      return { ...shard, process: 'exited' as const, processWhy: 'SIGKILL', engine: null }
    return { ...shard, ...older, engine: { ...shard.engine, replid: 'a', offset: 80 } }
  })
  return { ...seen, history: { replid: 'a', offset: 90, runId: 'run-1' }, shards }
}

function reported() {
  const words: string[] = []
  const ports = {
    ordersToServe: { mayBeGiven: () => true },
    handovers: { last: async () => new Map([[0, { intendedAt: '2026-01-01T00:00:00.000Z' }]]) },
    log: { error: (_: unknown, text: string) => words.push(text) },
    audit: { append: async () => undefined },
    now: () => 0,
  }
  return { words, ports: ports as unknown as Parameters<typeof reportPromotionLoss>[1]['ports'] }
}
const database = { uid: 1, persistence: 'disabled', aofFsync: 'everysec' } as Database
const about = { action: undefined, database, group: 0 }

test('the loss of a promotion is reported with a number, and no old values are reported if there are none', async () => {
  const { words, ports } = reported()
  await reportPromotionLoss(2, { ...about, seen: promoted(), ports })
  expect(words).toEqual([
    expect.stringMatching(/^shard 2 was promoted in place of shard 1.* 10 bytes of its stream$/),
  ])
})

test('for a replica on redis 6.0 that followed a newer primary, the report says since when it may have older values', async () => {
  const { words, ports } = reported()
  const seen = promoted({ wanted: redis6, revision: 'redis-6.0.16+0' })
  await reportPromotionLoss(2, { ...about, seen, ports })
  expect(words).toEqual([
    expect.stringMatching(
      / 10 bytes of its stream\. It runs redis 6\.0\.16.* since 2026-01-01T00:00:00\.000Z may have older values/,
    ),
  ])
})

/** Shard 1, the only one, died and serves again, with another history. The one on record went up to 90. */
function cameBack(): ObservedGroup {
  const seen = groupOf(0)
  const anew = { runId: 'anew', replid: 'b', replid2: '0'.repeat(40), offset: 0 }
  const shards = seen.shards.map((shard) => ({
    ...shard,
    beganAfterDeath: true,
    disk: { lookedAt: 0, snapshot: { replid: 'a', offset: 70 }, aof: 'none' as const, claim: null },
    engine: shard.engine && { ...shard.engine, ...anew },
  }))
  return { ...seen, shards }
}
const known = { replid: 'a', offset: 90, runId: 'run-1' }

test.each([
  ['kept nothing on disk has lost all that is on record', 'disabled', / 90 bytes of its stream$/],
  ['loaded a snapshot has lost what came after that snapshot', 'snapshot', / 20 bytes of its stream$/],
] as const)('a primary that comes back and %s', async (_, persistence, lost) => {
  const { words, ports } = reported()
  await reportRestartLoss(cameBack(), known, { ...about, database: { ...database, persistence } }, ports)
  expect(words).toEqual([expect.stringMatching(lost)])
})
