import { startFairlead } from '../../proof/start-fairlead.ts'
import { type Checked, loadDatabase } from './loaded-database.ts'
import type { Versions } from './start-pair.ts'

export interface ParallelUpgrade extends Checked {
  /** As the request's `parallel_shards_upgrade`; 0 is all. */
  readonly parallel: number
  readonly seconds: number
  /**
   * From the request to the first certificate, and from it to the last, in seconds: the canary, and the rest.
   */
  readonly firstHandoverSeconds: number
  readonly lastHandoverSeconds: number
}

/** Data of each group: little, so that the steps are measured and not the copying. */
const WRITES = 500

/** Upgrades a new sharded database without replicas and clients. */
export async function parallelUpgrade(
  { from, to }: Versions,
  wanted: { readonly groups: number; readonly parallel: number; readonly canary: boolean },
): Promise<ParallelUpgrade> {
  await using fairlead = await startFairlead({ env: logLevel() })
  await using database = await loadDatabase(fairlead, {
    build: from,
    groups: wanted.groups,
    replication: false,
    kind: 'set',
    perSecond: 0,
  })
  await database.load.untilAcked(WRITES * wanted.groups)
  await database.load.stop()
  const requestedAt = Date.now()
  const { action, ms } = await database.upgrade({
    engine_version: to,
    parallel_shards_upgrade: wanted.parallel,
    canary: wanted.canary,
  })
  const handovers = action.certificates.map(({ at }) => (Date.parse(at) - requestedAt) / 1000)
  return {
    parallel: wanted.parallel,
    seconds: ms / 1000,
    firstHandoverSeconds: Math.min(...handovers),
    lastHandoverSeconds: Math.max(...handovers),
    ...(await database.verdict()),
  }
}

/** At the level `info` the server logs every step with its time on standard error. */
export function logLevel(): Readonly<Record<string, string>> {
  const level = process.env['FAIRLEAD_LOG_LEVEL']
  return level === undefined ? {} : { FAIRLEAD_LOG_LEVEL: level }
}
