import { nowUnixMs } from '@fairlead/ledger'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { type Checked, loadDatabase } from './loaded-database.ts'
import { logLevel } from './parallel-upgrade.ts'
import type { Versions } from './start-pair.ts'

/** What Fairlead's handovers in one upgrade did to the clients. */
export interface FairleadHandovers extends Checked {
  /**
   * Measured as for the comparators: for each handover, the longest time without an acknowledged write to the
   * group that was handed over.
   */
  readonly writeStopsMs: readonly number[]
  /** Of the certificates, the server's own clock: from the pause to the promotion. */
  readonly certifiedMs: readonly number[]
  /** The longest such time before the upgrade: waits that the machine causes without a handover. */
  readonly calmMs: number
  /** That the handovers caused, by the certificates. */
  readonly fullSyncs: number
}

const WARM_UP = 20_000
/**
 * The window of the comparators: it ends when 20,000 more writes are acknowledged, after one to two seconds.
 */
const BEFORE_MS = 250
const AFTER_MS = 2_000

/**
 * Upgrades a replicated database of so many groups under the load of the comparators: 50 clients that ask for
 * 20,000 writes a second. One group hands over twice (preserve_roles), several once each.
 */
export async function fairleadHandovers(
  { from, to }: Versions,
  { groups, kind }: { readonly groups: number; readonly kind: 'set' | 'incr' },
): Promise<FairleadHandovers> {
  await using fairlead = await startFairlead({ env: logLevel() })
  await using database = await loadDatabase(fairlead, {
    build: from,
    groups,
    replication: true,
    kind,
    perSecond: 20_000,
  })
  const { load } = database
  await load.untilAcked(WARM_UP) // the start of the clients is not measured
  const calmFromMs = nowUnixMs()
  await load.untilAcked(load.acked() + WARM_UP)
  const calmMs = await load.longestGapMs({ fromMs: calmFromMs, toMs: nowUnixMs() })
  const { action } = await database.upgrade({ engine_version: to, preserve_roles: groups === 1 })
  await load.untilAcked(load.acked() + WARM_UP)
  const writeStopsMs: number[] = []
  for (const { at, from: old } of action.certificates) {
    const window = { fromMs: Date.parse(at) - BEFORE_MS, toMs: Date.parse(at) + AFTER_MS }
    const group = groups === 1 ? 0 : database.groupOfShard.get(old)
    if (group === undefined) throw new Error(`shard ${old} handed over and was in no group before`)
    writeStopsMs.push(await load.longestGapMs(window, { group }))
  }
  return {
    writeStopsMs,
    calmMs,
    certifiedMs: action.certificates.flatMap(({ write_stop_ms }) => write_stop_ms ?? []),
    fullSyncs: action.certificates.reduce((sum, { full_syncs }) => sum + (full_syncs ?? 0), 0),
    ...(await database.verdict()),
  }
}
