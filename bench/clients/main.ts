/**
 * What do unmodified clients notice? Each library is used for 10,000 and 20,000 operations a second (INCR and SET in turns,
 * read back afterwards) through an upgrade, its rollback, and an upgrade that preserves roles.
 * `npm run bench -- clients [--rounds 1] [--rates 10000,20000] [--only LIBRARY] [--clients 4] [--from BUILD] [--to BUILD] [--json]`.
 * Ends with 1 when a write was lost or carried out twice.
 */
import { parseArgs } from 'node:util'
import { libraries } from '../../proof/clients/clients.ts'
import { type BuildName, build } from '../../proof/engine-pairs.ts'
import { printClients } from './print-clients.ts'
import { runClients } from './run-clients.ts'
import { type Run, summarizeClients } from './summarize-clients.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    rates: { type: 'string', default: '10000,20000' },
    only: { type: 'string' },
    clients: { type: 'string', default: '4' },
    from: { type: 'string' },
    to: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const rounds = whole('rounds', flags.rounds)
const clients = whole('clients', flags.clients)
const rates = flags.rates.split(',').map((rate) => whole('rates', rate))
const from = (flags.from as BuildName | undefined) ?? build('redis', '7.0')
const to = (flags.to as BuildName | undefined) ?? build('valkey', '8.1')
const names = Object.keys(libraries).filter((name) => flags.only === undefined || name === flags.only)
if (names.length === 0)
  throw new Error(`--only is one of ${Object.keys(libraries).join(', ')}, not ${flags.only}`)

const runs: Run[] = []
for (let round = 0; round < rounds; round += 1)
  for (const perSecond of rates)
    for (const library of names) {
      const run = await runClients({ library, from, to, pace: { perSecond, clients } })
      runs.push(run)
      const stalls = run.stallsMs.map((ms) => ms.toFixed(1)).join(', ')
      process.stderr.write(`round ${round + 1}: ${library} at ${perSecond}/s: stalls of ${stalls} ms\n`)
    }
const rows = summarizeClients(runs)
const result = { from, to, rounds, rows }
process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : printClients(result))
if (rows.some(({ lost, twice }) => lost + twice > 0)) process.exitCode = 1

function whole(flag: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${flag} must be whole numbers above 0, not ${text}`)
}
