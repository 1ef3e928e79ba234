import { startFairlead } from '../../proof/start-fairlead.ts'
import { type Checked, loadDatabase } from './loaded-database.ts'
import { logLevel } from './parallel-upgrade.ts'
import type { Versions } from './start-pair.ts'

/** Bytes of each value; a key and the engine's own record of both come on top, about 120 bytes. */
export const VALUE_BYTES = 1_000

export interface DataSize {
  /** Of the values together. */
  readonly megabytes: number
}

/** Upgrades a replicated database with so much data, without writes meanwhile. */
export async function upgradeSeconds(
  { from, to }: Versions,
  { megabytes }: DataSize,
): Promise<Checked & { readonly seconds: number }> {
  await using fairlead = await startFairlead({ env: logLevel() })
  await using database = await loadDatabase(fairlead, {
    build: from,
    groups: 1,
    replication: true,
    kind: 'set',
    perSecond: 0,
    valueBytes: VALUE_BYTES,
  })
  await database.load.untilAcked(writesOf(megabytes), { withinMs: FILL_WITHIN_MS })
  await database.load.stop()
  const { ms } = await database.upgrade({ engine_version: to })
  return { seconds: ms / 1000, ...(await database.verdict()) }
}

export const FILL_WITHIN_MS = 600_000

export function writesOf(megabytes: number): number {
  return Math.ceil((megabytes * 1_000_000) / VALUE_BYTES)
}
