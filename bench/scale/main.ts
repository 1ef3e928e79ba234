/**
 * What does a database cost that is idle, and what do the others notice of it? One server with a simulated
 * agent, whose simulated databases stand beside one real database; then, with --real, idle databases with
 * engines. `npm run bench -- scale [--databases 10,100,1000,10000] [--rounds 5] [--idle-s 70] [--real 300]
 * [--only simulated|real|creation] [--create 100] [--at-once 1,10] [--store sqlite|postgres] [--quick]
 * [--json]`.
 */
import { parseArgs } from 'node:util'
import { measureCreation } from './measure-creation.ts'
import { measureReal } from './measure-real.ts'
import { measureScale } from './measure-scale.ts'
import { stores } from './open-fleet-store.ts'
import { printCreations, printJudged, printRuns } from './print-scale.ts'
import { startFleet } from './start-fleet.ts'
import { judgeReal, judgeScale, type ScaleRun } from './summarize-scale.ts'

const { values: flags } = parseArgs({
  options: {
    databases: { type: 'string' },
    rounds: { type: 'string' },
    'idle-s': { type: 'string' },
    real: { type: 'string', default: '300' },
    create: { type: 'string', default: '100' },
    'at-once': { type: 'string', default: '1,10' },
    only: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const counts = (flags.databases ?? (flags.quick ? '10,100' : '10,100,1000,10000')).split(',').map(whole)
const rounds = whole(flags.rounds ?? (flags.quick ? '3' : '5'))
const idleMs = whole(flags['idle-s'] ?? (flags.quick ? '5' : '70')) * 1_000
const store = readStore(flags.store)
const only = flags.only ?? (flags.quick ? 'simulated' : undefined)

if (only === 'creation') {
  const creations = await measureCreation(whole(flags.create), flags['at-once'].split(',').map(whole))
  process.stdout.write(flags.json ? `${JSON.stringify({ creations })}\n` : printCreations(creations))
} else await measureFleet()

async function measureFleet(): Promise<void> {
  const runs: ScaleRun[] = []
  if (only !== 'real')
    for (const count of counts) {
      await using fleet = await startFleet(count, store)
      runs.push(await measureScale(fleet, { rounds, idleMs }))
      process.stderr.write(`${printRuns(runs.slice(-1))}`)
    }
  const real =
    only === 'simulated' ? undefined : await measureReal({ databases: whole(flags.real), rounds, idleMs })
  const judged = [
    ...(runs.length > 0 ? judgeScale(runs) : []),
    ...(real === undefined ? [] : judgeReal(real)),
  ]
  if (flags.json) process.stdout.write(`${JSON.stringify({ runs, real, judged })}\n`)
  else process.stdout.write(`${runs.length > 0 ? printRuns(runs) : ''}${printJudged(judged)}`)
}

function readStore(name: string): (typeof stores)[number] {
  const store = stores.find((each) => each === name)
  if (store !== undefined) return store
  throw new Error(`--store is one of ${stores.join(', ')}, not ${name}`)
}

function whole(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`a whole number above 0 is expected, not ${text}`)
}
