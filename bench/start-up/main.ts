/**
 * How long does the command line take to start? Whole processes, in turns, beside Node with an empty program: `npm run bench -- start-up [--rounds 15] [--json]`.
 * The list is asked of a server that answers at once, in a thread of its own: what is measured is the client.
 * It is run from its source, as in a checkout; what Node has compiled is kept, as for a user who is not root.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import Table from 'cli-table3'
import { median } from '../auth/median.ts'

const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, json: { type: 'boolean', default: false } },
})
const main = join(import.meta.dirname, '../../packages/cli/src/main.ts')
const cli = ['--conditions=@fairlead/source', main]
const commands: Readonly<Record<string, readonly string[]>> = {
  bare: ['-e', '0'],
  '--version': [...cli, '--version'],
  '--help': [...cli, '--help'],
  'engines --help': [...cli, 'engines', '--help'],
  __complete: [...cli, '__complete', ':'],
  'db list': [...cli, 'db', 'list'],
}

/** Milliseconds above Node. */
const goalOf = (name: string) => (name === 'bare' ? undefined : name === 'db list' ? 130 : 50)

const answering = new Worker(
  `const { parentPort } = require('node:worker_threads')
const server = require('node:http').createServer((request, response) => response.end('[]'))
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
  { eval: true },
)
const [port] = await once(answering, 'message')
const cache = await mkdtemp(join(tmpdir(), 'fairlead-start-up-'))
try {
  const times = new Map(Object.keys(commands).map((name) => [name, [] as number[]]))
  // The first round fills what is kept.
  for (let round = 0; round <= Number(flags.rounds); round += 1) {
    for (const [name, args] of Object.entries(commands)) {
      const ms = timeOf(args)
      if (round > 0) times.get(name)?.push(ms)
    }
  }
  const bare = median(times.get('bare') ?? [])
  const rows = [...times].map(([name, all]) => {
    const ms = median(all)
    return { name, ms: Math.round(ms), above: Math.round(ms - bare) }
  })
  if (flags.json) process.stdout.write(`${JSON.stringify(rows)}\n`)
  else {
    const table = new Table({
      head: ['', 'median', 'above bare Node', 'goal'],
      style: { head: [], border: [] },
    })
    for (const { name, ms, above } of rows) {
      const goal = goalOf(name)
      table.push([
        name,
        `${ms} ms`,
        goal === undefined ? '' : `${above} ms`,
        goal === undefined ? '' : `≤ ${goal} ms`,
      ])
    }
    process.stdout.write(`${table.toString()}\n`)
  }
} finally {
  await answering.terminate()
  await rm(cache, { recursive: true })
}

function timeOf(args: readonly string[]): number {
  const began = performance.now()
  const { status } = spawnSync(process.execPath, args, {
    env: {
      ...{ ...process.env, NODE_COMPILE_CACHE: cache, FAIRLEAD_CONFIG: join(cache, 'none') },
      ...{ FAIRLEAD_SERVER: `http://127.0.0.1:${port}`, FAIRLEAD_TOKEN: 'none' },
    },
    stdio: 'ignore',
  })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  return performance.now() - began
}
