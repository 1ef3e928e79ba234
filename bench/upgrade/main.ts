/**
 * What does an upgrade cost, beside what the engines' own procedures cost? Write stops beside FAILOVER,
 * CLUSTER FAILOVER and Sentinel's; its seconds beside the least that engines need; and many groups at once
 * beside one at a time. `npm run bench -- upgrade [--rounds 3] [--only stops|seconds|parallel] [--from BUILD]
 * [--to BUILD] [--data-mb 200] [--groups 24] [--canary] [--json] [--quick]`. Ends with 1 when Fairlead lost a
 * write or carried one out twice.
 */
import { parseArgs } from 'node:util'
import { type Measured, measureParallel, measureSeconds, measureStops } from './measure-upgrade.ts'
import { newestPair } from './newest-pair.ts'
import { printUpgrade } from './print-upgrade.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string' },
    only: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    'data-mb': { type: 'string' },
    groups: { type: 'string' },
    canary: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
const named = flags.from !== undefined && flags.to !== undefined
const newest = named ? { from: '', to: '' } : newestPair()
const versions = { from: flags.from ?? newest.from, to: flags.to ?? newest.to }
const rounds = { rounds: whole('rounds', flags.rounds, flags.quick ? 1 : 3), say }
const megabytes = whole('data-mb', flags['data-mb'], flags.quick ? 20 : 200)
const groups = whole('groups', flags.groups, flags.quick ? 6 : 24)

const parts: Readonly<Record<string, () => Promise<Measured>>> = {
  stops: () => measureStops(versions, rounds),
  seconds: () => measureSeconds(versions, { ...rounds, megabytes }),
  parallel: () => measureParallel(versions, { ...rounds, groups, canary: flags.canary }),
}
if (flags.only !== undefined && !Object.hasOwn(parts, flags.only))
  throw new Error(`--only is one of ${Object.keys(parts).join(', ')}, not ${flags.only}`)

const measured: Measured[] = []
for (const [name, measure] of Object.entries(parts))
  if (flags.only === undefined || flags.only === name) measured.push(await measure())

const lost = measured.reduce((sum, one) => sum + one.lost, 0)
const duplicated = measured.reduce((sum, one) => sum + one.duplicated, 0)
const result = {
  ...versions,
  rounds: rounds.rounds,
  data_mb: megabytes,
  groups,
  canary: flags.canary,
  lost,
  duplicated,
  goals: measured.flatMap(({ goals }) => goals),
  details: Object.fromEntries(measured.flatMap(({ details }) => Object.entries(details))),
}
process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : printUpgrade(result))
if (lost + duplicated > 0) process.exitCode = 1

function whole(flag: string, text: string | undefined, otherwise: number): number {
  const number = text === undefined ? otherwise : Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${flag} must be a whole number above 0, not ${text}`)
}

function say(sentence: string): void {
  process.stderr.write(`${versions.from} → ${versions.to}: ${sentence}\n`)
}
