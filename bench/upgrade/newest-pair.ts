import { readdirSync } from 'node:fs'
import { compareVersions } from '@fairlead/engine'
import { enginesFolder } from '../../proof/engines-folder.ts'
import type { Versions } from './start-pair.ts'

/**
 * The newest valkey among the builds, and what an upgrade to it comes from: the newest of the series before.
 * The engines' own procedures are at their best there: voters of redis 7.0 and 8.0 may stall a CLUSTER
 * FAILOVER for seconds.
 */
export function newestPair(names: readonly string[] = readdirSync(enginesFolder())): Versions {
  const versions = names
    .map((name) => /^valkey-(\d+\.\d+\.\d+)$/.exec(name)?.[1] ?? '')
    .filter((version) => version !== '')
    .toSorted(compareVersions)
  const to = versions.at(-1)
  const from = versions.findLast((version) => to !== undefined && seriesOf(version) !== seriesOf(to))
  if (from === undefined)
    throw new Error('builds of two valkey series are needed; --from and --to name any others')
  return { from: `valkey-${from}`, to: `valkey-${to}` }
}

function seriesOf(version: string): string {
  return version.slice(0, version.lastIndexOf('.'))
}
