import { type Comparison, handOverUnderLoad } from './hand-over-under-load.ts'
import { startPair, type Versions } from './start-pair.ts'

/** `FAILOVER TO host port TIMEOUT ms` from a primary on `from` to its replica on `to`. */
export async function failoverCommand({ from, to }: Versions): Promise<Comparison> {
  await using pair = await startPair({ from, to })
  return await handOverUnderLoad({
    name: 'FAILOVER TO',
    groups: [pair.group],
    sharded: false,
    async handOver({ old, successor }) {
      await old.call('FAILOVER', 'TO', successor.host, successor.port, 'TIMEOUT', 10_000)
    },
  })
}
