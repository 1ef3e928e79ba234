import { expect, test } from 'vitest'
import { type Load, startLoad } from '../../../ledger/src/start-load.ts'
import { startTestCluster, type TestCluster } from '../../../ledger/src/test-cluster.ts'
import { PASSWORD, valkeyBuilds } from '../../../ledger/src/test-engine.ts'
import { nowUnixMs } from '../../../ledger/src/unix-clock.ts'

const builds = await valkeyBuilds()
const oldest = builds[0] ?? ''
const newest = builds.at(-1) ?? ''
const kinds = ['set', 'incr'] as const

test.each(kinds)(
  'sharded: every acknowledged %s is read back, from primaries and from replicas',
  async (kind) => {
    await using cluster = await startTestCluster(newest, newest)
    await using load = await startOn(cluster, kind)
    await load.untilAcked(20_000)
    const report = await load.stop()
    expect(report).toMatchObject({ refused: 0, unknown: 0, reconnects: 0, jumps: 0, errors: {} })
    expect(load.groups).toEqual(cluster.groups.map(({ slots }) => slots))
    expect(report.groups.map(({ slots }) => slots)).toEqual(load.groups)
    for (const { acked } of report.groups) expect(acked).toBeGreaterThan(5_000)
    expect(sumOf(report.groups.map(({ acked }) => acked))).toBe(report.acked)
    expect(await load.readBack()).toEqual(intact(report.acked))
    for (const [n, { primary, replica }] of cluster.groups.entries()) {
      const acked = report.groups[n]?.acked ?? 0
      expect(await load.readBack({ address: primary.address })).toEqual(intact(acked))
      expect(await load.readBack({ address: replica.address })).toEqual(intact(acked))
    }
  },
)

test.each(kinds)(
  'sharded: the load (%s) follows each primary there and back, and loses nothing',
  async (kind) => {
    await using cluster = await startTestCluster(oldest, newest)
    await using load = await startOn(cluster, kind)
    for (const [n, group] of [...cluster.groups, ...cluster.groups].entries()) {
      await load.untilAcked(load.acked() + 2_000)
      const fromMs = nowUnixMs()
      await cluster.handOver(group)
      await load.untilAcked(load.acked() + 2_000)
      const window = { fromMs, toMs: nowUnixMs() }
      const gaps = await Promise.all([0, 1, 2].map((one) => load.longestGapMs(window, { group: one })))
      console.log(
        `${kind}: group ${n % 3} handed over; gaps ${gaps.map((ms) => ms.toFixed(1)).join(', ')} ms`,
      )
      expect(await load.longestGapMs(window)).toBeLessThanOrEqual(gaps[n % 3] ?? 0)
    }
    const report = await load.stop()
    expect(report).toMatchObject({ unknown: 0, jumps: 0 })
    expect(report.errors['MOVED']).toBeGreaterThan(0)
    expect(report.errors['hint']).toBeUndefined()
    expect(await load.readBack()).toEqual(intact(report.acked))
    for (const [n, { replica }] of cluster.groups.entries())
      expect(await load.readBack({ address: replica.address })).toEqual(intact(report.groups[n]?.acked ?? 0))
  },
)

test('sharded: what one group loses is found, all of it, and held against that group only', async () => {
  await using cluster = await startTestCluster(newest, newest)
  await using load = await startOn(cluster, 'set')
  await load.untilAcked(5_000)
  const { acked, groups } = await load.stop()
  const [first, second] = cluster.groups
  await second?.primary.call('FLUSHALL')
  const lost = groups[1]?.acked ?? 0
  expect(lost).toBeGreaterThan(1_000)
  expect(await load.readBack()).toMatchObject({ acked, lost, duplicated: 0 })
  expect(await load.readBack({ address: at(second?.replica) })).toMatchObject({ acked: lost, lost })
  expect(await load.readBack({ address: at(first?.replica) })).toMatchObject({ lost: 0 })
})

test.each(kinds)(
  'sharded: the writes that a replica lacks when it takes over (%s) are found',
  async (kind) => {
    await using cluster = await startTestCluster(newest, newest)
    const [group] = cluster.groups
    if (!group) throw new Error('there is no first group')
    await using load = await startOn(cluster, kind)
    await load.untilAcked(5_000)
    await group.replica.call('CONFIG', 'SET', 'masterauth', 'wrong')
    await group.replica.call('CLIENT', 'KILL', 'TYPE', 'master')
    const before = load.acked()
    await load.untilAcked(before + 5_000)
    group.primary.process.kill('SIGKILL')
    await group.replica.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
    Object.assign(group, { primary: group.replica, replica: group.primary })
    await load.untilAcked(load.acked() + 5_000)
    const report = await load.stop()
    const { lost, examples } = await load.readBack()
    console.log(`${kind}: ${lost} of ${report.acked} were lost, ${report.jumps} jumps`)
    // A third of the 5,000 or more went to the group that was cut off. What was acked before is not among
    // them.
    expect(lost).toBeGreaterThan(0)
    expect(lost).toBeLessThan((report.groups[0]?.acked ?? 0) - 1_000)
    expect(examples).not.toEqual([])
    if (kind === 'incr') expect(report.jumps).toBeGreaterThan(0)
  },
)

test('sharded: the load follows MOVED when the API is behind, and when it is away', async () => {
  await using cluster = await startTestCluster(newest, newest)
  const [first, second] = cluster.groups
  if (!first || !second) throw new Error('there are no two groups')
  await using load = await startOn(cluster, 'set')
  await load.untilAcked(2_000)
  await cluster.handOver(first, { silently: true })
  cluster.status = 503
  await cluster.handOver(second, { silently: true })
  const fromMs = nowUnixMs()
  await load.untilAcked(load.acked() + 5_000)
  const report = await load.stop()
  expect(report.errors['hint']).toBeGreaterThan(0)
  expect(report.errors['lookup']).toBeGreaterThan(0)
  for (const group of [0, 1, 2])
    expect(await load.longestGapMs({ fromMs, toMs: nowUnixMs() }, { group })).toBeLessThan(5_000)
  await expect(load.readBack()).rejects.toThrow('answered 503')
  cluster.status = 200
  await expect(load.readBack()).rejects.toThrow('MOVED')
  for (const group of [first, second])
    Object.assign(group, { primary: group.replica, replica: group.primary })
  expect(await load.readBack()).toEqual(intact(report.acked))
})

test('sharded: contradictory options are refused', async () => {
  await using cluster = await startTestCluster(newest, newest)
  const lookup = { url: cluster.url, token: 'good', groups: 'sharded' } as const
  await expect(startLoad({ kind: 'set', password: PASSWORD, lookup, connections: 2 })).rejects.toThrow(
    'connections must be at least 3',
  )
  await expect(startLoad({ kind: 'set', password: 'wrong', lookup })).rejects.toThrow(
    /could log in at 127.0.0.1:\d+, 127.0.0.1:\d+, 127.0.0.1:\d+: .*WRONGPASS/,
  )
  await using load = await startOn(cluster, 'set')
  await load.untilAcked(100)
  const window = { fromMs: nowUnixMs() - 10, toMs: nowUnixMs() }
  await expect(load.longestGapMs(window, { group: 3 })).rejects.toThrow('there is no group 3: there are 3')
  await load.stop()
  await expect(load.readBack({ address: { host: '127.0.0.1', port: 1 } })).rejects.toThrow(
    'the API names no such shard',
  )
})

function startOn(cluster: TestCluster, kind: (typeof kinds)[number]): Promise<Load> {
  const lookup = { url: cluster.url, token: 'good', groups: 'sharded' } as const
  return startLoad({ kind, perSecond: 10_000, password: PASSWORD, lookup })
}

function intact(acked: number) {
  return { acked, lost: 0, duplicated: 0, unknown: 0, examples: [] }
}

function at(engine: { address: { host: string; port: number } } | undefined) {
  return engine?.address ?? { host: '', port: 0 }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}
