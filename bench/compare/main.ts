/**
 * Is this commit slower than another one? Builds the other one in .fairlead/compare, and runs benches of both
 * in turns: handover, endpoint and demo, each by its own commit's code, on the same engines.
 * `npm run bench -- compare COMMIT [--of COMMIT] [--rounds 5] [--only demo,handover,endpoint] [--busy 2]
 * [--record RELEASE] [--json]`. `--of` measures another commit than this one, `--busy` starts so many busy
 * loops beside them, `--record` adds a line to bench/history.csv.
 */
import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { enginesFolder } from '../../proof/engines-folder.ts'
import {
  compare,
  type Figures,
  figuresOfDemo,
  figuresOfEndpoint,
  figuresOfHandover,
  printCompared,
} from './figures.ts'
import { printHistoryLine } from './history.ts'

const benches = {
  demo: { args: ['demo/main.ts', '--json'], read: figuresOfDemo },
  handover: { args: ['bench/main.ts', 'handover', '--rounds', '1', '--json'], read: figuresOfHandover },
  endpoint: {
    args: ['bench/main.ts', 'endpoint', '--rounds', '1', '--only', 'load', '--json'],
    read: figuresOfEndpoint,
  },
} as const

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: Object.keys(benches).join() },
    busy: { type: 'string', default: '0' },
    of: { type: 'string' },
    record: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const here = join(import.meta.dirname, '../..')
const [asked] = positionals
if (asked === undefined) throw new Error('name the commit to compare with: npm run bench -- compare COMMIT')
const base = shortOf(asked)
const there = checkOut(base)
const measured = shortOf(flags.of ?? 'HEAD')
const ours = flags.of === undefined ? here : checkOut(measured)
const chosen = flags.only.split(',').map((name) => {
  const bench = Object.entries(benches).find(([known]) => known === name)?.[1]
  if (bench === undefined)
    throw new Error(`there is no ${name}; there are ${Object.keys(benches).join(', ')}`)
  return bench
})
if (flags.record !== undefined && !(/^[\w.-]+$/.test(flags.record) && chosen.includes(benches.demo)))
  throw new Error('--record takes a name of letters, digits, dots and hyphens, and needs the demo in --only')
using loops = startLoops(Number(flags.busy))
const rounds: Record<'before' | 'now', Figures[]> = { before: [], now: [] }
for (let round = 0; round < Number(flags.rounds); round += 1) {
  const sides = [['before', there] as const, ['now', ours] as const]
  // What comes first is not always the same: a machine may get slower while it works.
  for (const [side, folder] of round % 2 === 0 ? sides : sides.toReversed())
    rounds[side].push(
      Object.assign({}, ...chosen.map(({ args, read }) => read(run(folder, args)))) as Figures,
    )
  process.stderr.write(`round ${round + 1} of ${flags.rounds}\n`)
}
loops[Symbol.dispose]()
const compared = compare(rounds.before, rounds.now)
process.stdout.write(
  flags.json
    ? `${JSON.stringify({ commit: base, compared, rounds })}\n`
    : printCompared([base, measured], compared),
)
if (flags.record !== undefined) {
  const date = git('show', '--no-patch', '--format=%cs', measured)
  const release = { release: flags.record, commit: measured, date, base, rounds: Number(flags.rounds) }
  appendFileSync(join(here, 'bench/history.csv'), `${printHistoryLine(release, compared)}\n`)
}

function shortOf(commit: string): string {
  return git('rev-parse', '--short=8', commit)
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: here, encoding: 'utf8' }).trim()
}

/** Returns the folder of a checkout with its packages; made once for a commit. */
function checkOut(name: string): string {
  const folder = join(here, '.fairlead', 'compare', name)
  if (existsSync(join(folder, 'node_modules'))) return folder
  git('clone', '--quiet', '--no-checkout', here, folder)
  execFileSync('git', ['checkout', '--quiet', name], { cwd: folder })
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--silent'], { cwd: folder, stdio: 'inherit' })
  return folder
}

function run(folder: string, args: readonly string[]): string {
  const env = { ...process.env, FAIRLEAD_ENGINES: enginesFolder() }
  return execFileSync(process.execPath, ['--conditions=@fairlead/source', ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 << 20,
  })
}

function startLoops(count: number): Disposable {
  const loops = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);']))
  return { [Symbol.dispose]: () => loops.forEach((loop) => void loop.kill()) }
}
