/**
 * How long do writes stop when the engines' own procedures move the primary role, and is anything lost?
 * `node --conditions=@fairlead/source bench/upgrade/comparators-main.ts [--from valkey-8.0.1] [--to
 * valkey-8.1.1] [--rounds 3] [--json]`. The procedures run one after the other, never at once.
 */
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { spread } from '../../demo/summarize.ts'
import { build } from '../../proof/engine-pairs.ts'
import { clusterFailover } from './cluster-failover.ts'
import { failoverCommand } from './failover-command.ts'
import type { Comparison } from './hand-over-under-load.ts'
import { sentinelFailover } from './sentinel-failover.ts'

const { values: flags } = parseArgs({
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
})
const versions = { from: flags.from ?? build('valkey', '8.0'), to: flags.to ?? build('valkey', '8.1') }
const rounds = Number(flags.rounds)

const found = new Map<string, Comparison[]>()
for (let round = 0; round < rounds; round += 1) {
  for (const compare of [failoverCommand, clusterFailover, sentinelFailover]) {
    const comparison = await compare(versions)
    found.set(comparison.name, [...(found.get(comparison.name) ?? []), comparison])
  }
  process.stderr.write(`${versions.from} → ${versions.to}: round ${round + 1} of ${rounds}\n`)
}

const results = [...found].map(([name, comparisons]) => ({
  name,
  ...versions,
  handovers: comparisons.flatMap(({ writeStopsMs }) => writeStopsMs).length,
  write_stop_ms: spread(comparisons.flatMap(({ writeStopsMs }) => writeStopsMs)),
  acked: sum(comparisons.map(({ acked }) => acked)),
  lost: sum(comparisons.map(({ lost }) => lost)),
  unknown: sum(comparisons.map(({ unknown }) => unknown)),
}))

if (flags.json) process.stdout.write(`${JSON.stringify(results)}\n`)
else {
  const table = new Table({
    head: ['procedure', 'handovers', 'write stop, median / longest', 'acked', 'lost', 'unknown'],
    style: { head: [], border: [] },
  })
  for (const { name, handovers, write_stop_ms: stop, acked, lost, unknown } of results)
    table.push([name, handovers, `${stop.median} / ${stop.max} ms`, acked, lost, unknown])
  process.stdout.write(`${table.toString()}\n`)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
