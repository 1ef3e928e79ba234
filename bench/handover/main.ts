/**
 * How long do writes stop, and how long do clients wait? Fairlead's handover beside the engine's own
 * FAILOVER, in one run, on the same builds under the same load; and how long an upgrade of an idle database
 * takes. `npm run bench -- [--rounds 5] [--json]`.
 *
 * FAILOVER has an advantage: its clients are told the new primary within about a millisecond of the
 * promotion.
 */
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { spread } from '../../demo/summarize.ts'
import { build } from '../../proof/engine-pairs.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { upgradeUnderLoad } from '../../proof/upgrade-under-load.ts'
import { failoverCommand } from '../upgrade/failover-command.ts'
import { idleUpgradeMs } from './idle-upgrade.ts'

const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
})
const rounds = Number(flags.rounds)
const pairs = [
  { from: build('redis', '7.0'), to: build('valkey', '8.1') },
  { from: build('valkey', '8.0'), to: build('valkey', '8.1') },
]

const results = []
for (const { from, to } of pairs) {
  const writeStops: number[] = []
  const gaps: number[] = []
  const failoverGaps: number[] = []
  const idleMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    await using fairlead = await startFairlead()
    const proof = await upgradeUnderLoad(fairlead, {
      from,
      to,
      kind: 'set',
      preserveRoles: true,
      warmUp: 20_000,
    })
    if (proof.lost > 0) throw new Error(`writes were lost: ${proof.examples.join('; ')}`)
    writeStops.push(...proof.writeStopsMs)
    gaps.push(...proof.clientGapsMs)
    for (const _ of proof.clientGapsMs)
      failoverGaps.push((await failoverCommand({ from, to: from })).writeStopMs)
    idleMs.push(await idleUpgradeMs({ from, to }))
    process.stderr.write(`${from} → ${to}: round ${round + 1} of ${rounds}\n`)
  }
  const [ours, theirs] = [spread(gaps), spread(failoverGaps)]
  results.push({
    pair: `${from} → ${to}`,
    handovers: gaps.length,
    write_stop_ms: spread(writeStops),
    client_gap_ms: ours,
    failover_client_gap_ms: theirs,
    idle_upgrade_ms: spread(idleMs),
    ratio_of_medians: Math.round((theirs.median / ours.median) * 10) / 10,
  })
}

if (flags.json) process.stdout.write(`${JSON.stringify(results)}\n`)
else {
  const table = new Table({
    head: [
      'pair',
      'handovers',
      'write stop',
      'client gap',
      'client gap of FAILOVER',
      'ratio',
      'idle upgrade',
    ],
    style: { head: [], border: [] },
  })
  const ms = ({ median, max }: { median: number; max: number }) => `${median} / ${max} ms`
  for (const one of results) {
    table.push([
      one.pair,
      one.handovers,
      ms(one.write_stop_ms),
      ms(one.client_gap_ms),
      ms(one.failover_client_gap_ms),
      `${one.ratio_of_medians} ×`,
      ms(one.idle_upgrade_ms),
    ])
  }
  process.stdout.write(`${table.toString()}\n(median / longest)\n`)
}
