import { nowUnixMs, startLoad } from '@fairlead/ledger'
import { until } from '../../proof/until.ts'
import { PASSWORD } from './start-engines.ts'
import { type BenchGroup, watchPrimaries } from './watch-primaries.ts'

/** What an engine's own procedure did to the clients. */
export interface Comparison {
  readonly name: string
  /**
   * The longest time without an acknowledged write to the group that was handed over, in ms; of all its
   * handovers.
   */
  readonly writeStopMs: number
  /** The same of each handover, in their order. */
  readonly writeStopsMs: readonly number[]
  /** The longest such time before the first handover: waits that the machine causes without a handover. */
  readonly calmMs: number
  /** Acknowledged writes that do not exist afterwards. */
  readonly lost: number
  readonly acked: number
  /** Writes that were sent and never answered. */
  readonly unknown: number
}

export interface HandoverBench {
  readonly name: string
  readonly groups: readonly BenchGroup[]
  readonly sharded: boolean
  /**
   * The engine's own procedure for one group: `old` is its primary, `successor` a replica whose stream flows.
   */
  readonly handOver: (group: BenchGroup) => Promise<void>
}

const WARM_UP = 20_000
const WITHIN_MS = 60_000

/**
 * Hands each group over, one after the other, under the load of the handover bench: 50 clients that ask for
 * 20,000 SETs a second. Then all that was acknowledged is read back from the new primaries. The engines must
 * have been joined, with settings that are otherwise their own defaults.
 */
export async function handOverUnderLoad({
  name,
  groups,
  sharded,
  handOver,
}: HandoverBench): Promise<Comparison> {
  await using watch = await watchPrimaries(groups)
  const lookup = { url: watch.url, token: 'none', groups: sharded ? 'sharded' : 'one' } as const
  await using load = await startLoad({ kind: 'set', password: PASSWORD, lookup })
  for (const group of groups) await streamFlows(group)
  const writeStopsMs: number[] = []
  const calmFromMs = nowUnixMs()
  await load.untilAcked(load.acked() + WARM_UP)
  const calmMs = await load.longestGapMs({ fromMs: calmFromMs, toMs: nowUnixMs() })
  for (const [n, group] of groups.entries()) {
    await load.untilAcked(load.acked() + WARM_UP)
    const beganMs = nowUnixMs()
    await handOver(group)
    await until('the roles have changed', () => hasHandedOver(group), { withinMs: WITHIN_MS })
    await load.untilAcked(load.acked() + WARM_UP, { withinMs: WITHIN_MS })
    const window = { fromMs: beganMs, toMs: nowUnixMs() }
    writeStopsMs.push(await load.longestGapMs(window, { group: n }))
  }
  const { acked, unknown } = await load.stop()
  const { lost } = await load.readBack()
  return { name, writeStopMs: Math.max(...writeStopsMs), writeStopsMs, calmMs, lost, acked, unknown }
}

/** "Online" comes up to a second before the stream flows: only the offset shows that it flows. */
async function streamFlows({ old, successor }: BenchGroup): Promise<void> {
  const { offset } = await old.replication()
  await until('the stream flows', async () => (await successor.replication()).offset > offset, {
    withinMs: WITHIN_MS,
  })
}

/**
 * The old primary follows the new one, and its stream flows: only now is the handover complete, and writes
 * that only the old primary held are lost.
 */
async function hasHandedOver({ old, successor }: BenchGroup): Promise<boolean> {
  const [was, is] = await Promise.all([old.replication(), successor.replication()])
  return is.role === 'primary' && was.role === 'replica' && was.link === 'up'
}
