import { readdirSync } from 'node:fs'
import { compareVersions } from '@fairlead/engine'
import { enginesFolder } from '../../proof/engines-folder.ts'
import { until } from '../../proof/until.ts'
import { type Comparison, handOverUnderLoad } from './hand-over-under-load.ts'
import { startSentinel } from './start-engines.ts'
import { startPair, type Versions } from './start-pair.ts'

const NAME = 'db'
const KNOWS_WITHIN_MS = 30_000

/**
 * A failover that a Sentinel conducts, from a primary on `from` to its replica on `to`: `SENTINEL FAILOVER
 * name COORDINATED` where there is a build of valkey 9 or newer to be the Sentinel, else the classic one,
 * under that name.
 */
export async function sentinelFailover({ from, to }: Versions): Promise<Comparison> {
  const coordinator = newestCoordinator()
  await using pair = await startPair({ from, to })
  await using sentinel = await startSentinel(coordinator ?? to, NAME, pair.group.old)
  const ask = (...words: readonly string[]) => sentinel.call('SENTINEL', ...words)
  const { port } = pair.group.successor
  // Sentinel learns of replicas from the primary's INFO, every ten seconds; an earlier failover finds no
  // replica to promote.
  const knowsSuccessor = async () => {
    const told = JSON.stringify(await ask('REPLICAS', NAME))
    return told.includes(`:${port}"`) && told.includes('"master-link-status","ok"')
  }
  await until('the Sentinel knows the replica', knowsSuccessor, { withinMs: KNOWS_WITHIN_MS })
  return await handOverUnderLoad({
    name: coordinator ? `SENTINEL FAILOVER COORDINATED (${coordinator})` : `SENTINEL FAILOVER (${to})`,
    groups: [pair.group],
    sharded: false,
    async handOver() {
      await ask('FAILOVER', NAME, ...(coordinator ? ['COORDINATED'] : []))
    },
  })
}

/** The newest valkey here that knows COORDINATED; undefined when there is none. */
function newestCoordinator(): string | undefined {
  const versions = readdirSync(enginesFolder())
    .map((name) => /^valkey-(\d+\.\d+\.\d+)$/.exec(name)?.[1] ?? '')
    .filter((version) => version !== '' && compareVersions(version, '9.0.0') >= 0)
  const newest = versions.toSorted(compareVersions).at(-1)
  return newest === undefined ? undefined : `valkey-${newest}`
}
