import { until } from '../../proof/until.ts'
import { type Comparison, handOverUnderLoad } from './hand-over-under-load.ts'
import { type BenchEngine, startBenchEngine } from './start-engines.ts'
import type { Versions } from './start-pair.ts'
import type { BenchGroup } from './watch-primaries.ts'

const slots = ['0-5460', '5461-10922', '10923-16383']
const WITHIN_MS = 30_000

/**
 * `CLUSTER FAILOVER`, group by group, in a cluster of three primaries on `from` with one replica each on
 * `to`. Each group is handed over once: voters may refuse a second time within two node timeouts.
 */
export async function clusterFailover({ from, to }: Versions): Promise<Comparison> {
  await using opened = new AsyncDisposableStack()
  const groups: BenchGroup[] = []
  for (const range of slots) {
    const old = opened.use(await startBenchEngine(from, settings))
    const successor = opened.use(await startBenchEngine(to, settings))
    groups.push({ slots: range, old, successor })
  }
  await join(groups)
  return await handOverUnderLoad({
    name: 'CLUSTER FAILOVER',
    groups,
    sharded: true,
    async handOver({ successor }) {
      await successor.call('CLUSTER', 'FAILOVER')
    },
  })
}

const settings = ['cluster-enabled yes', 'cluster-allow-replica-migration no']

/** Resolves when every node sees a whole cluster. */
async function join(groups: readonly BenchGroup[]): Promise<void> {
  const engines = groups.flatMap(({ old, successor }) => [old, successor])
  for (const { slots: range, old } of groups) await old.call('CLUSTER', 'ADDSLOTSRANGE', ...range.split('-'))
  for (const { host, port } of engines.slice(1)) await engines[0]?.call('CLUSTER', 'MEET', host, port)
  for (const { old, successor } of groups) {
    const id = await ask(old, 'MYID')
    await until('they have met', async () => (await ask(successor, 'NODES')).includes(id), {
      withinMs: WITHIN_MS,
    })
    await ask(successor, 'REPLICATE', id)
  }
  const isWhole = async (engine: BenchEngine) => {
    const info = await ask(engine, 'INFO')
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${engines.length}`)
  }
  for (const engine of engines)
    await until('the cluster is whole', () => isWhole(engine), { withinMs: WITHIN_MS })
}

async function ask(engine: BenchEngine, ...words: readonly string[]): Promise<string> {
  return String(await engine.call('CLUSTER', ...words))
}
