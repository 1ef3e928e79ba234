/**
 * What do clients that only wait cost the clients that write? Handovers of a database with 50 writers alone, and beside thousands that
 * are blocked, subscribed, idle, or write from time to time.
 * `npm run bench -- crowds [--rounds 3] [--only CROWD] [--count 3000] [--groups 1] [--tls] [--build BUILD] [--json]`.
 */
import { parseArgs } from 'node:util'
import { type BuildName, build as buildOf } from '../../proof/engine-pairs.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { type Crowd, crowds } from './crowd-load.ts'
import { printCrowds } from './print-crowds.ts'
import { type Course, runCrowd } from './run-crowd.ts'
import { type Run, summarizeCrowds } from './summarize-crowds.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    count: { type: 'string', default: '3000' },
    'per-second': { type: 'string', default: '2000' },
    groups: { type: 'string', default: '1' },
    tls: { type: 'boolean', default: false },
    build: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const count = Number(flags.count)
const groups = Number(flags.groups)
const { tls } = flags
const build = (flags.build as BuildName | undefined) ?? buildOf('valkey', '8.1')
const perSecond = Number(flags['per-second'])
const common = { build, groups, tls, perSecond, writers: 50 }
/** Each client takes three files at a handover, of the 20,000 that a process usually may have. */
const idle = Math.min(6_000, 2 * count)

const waiting = (Object.keys(crowds) as Crowd[])
  .filter((crowd) => crowd !== 'none' && crowd !== 'idle')
  .map((crowd): Course => ({ ...common, what: `${count} ${crowd}`, crowd, count }))
const courses: readonly Course[] = [
  ...waiting,
  { ...common, what: `${count} busy`, crowd: 'none' as const, count: 0, writers: count },
  { ...common, what: `${idle} idle`, crowd: 'idle' as const, count: idle },
].filter(({ what }) => flags.only === undefined || what.endsWith(` ${flags.only}`))

const rounds: Run[][] = []
for (let round = 1; round <= Number(flags.rounds); round += 1) {
  const runs: Run[] = []
  for (const course of [{ ...common, what: '50 busy', crowd: 'none', count: 0 } as const, ...courses]) {
    // Each run begins with a new proxy.
    await using fairlead = await startFairlead()
    const run = await runCrowd(fairlead, course)
    runs.push(run)
    const held = run.heldMs.map((ms) => ms.toFixed(0)).join(', ')
    const gaps = run.gapsMs.map((ms) => ms.toFixed(0)).join(', ')
    process.stderr.write(`round ${round}: ${run.what}: held ${held} ms, gaps ${gaps} ms\n`)
  }
  rounds.push(runs)
}
const result = { build, groups, tls, rounds: rounds.length, rows: summarizeCrowds(rounds) }
process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : printCrowds(result))
if (result.rows.some(({ errors }) => errors > 0)) process.exitCode = 1
