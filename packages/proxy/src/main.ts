import { accessSync, constants } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { currentRequestId } from '@fairlead/engine'
import type { Log } from './listen/cut-log.ts'
import { createProxy } from './program/proxy.ts'
import { countWorkers } from './workers/count-workers.ts'

/**
 * The program: node main.ts --home FOLDER [--socket PATH] [--sentinel-host 127.0.0.1] [--sentinel-port 0]
 * [--workers N] [--check]. Runs until SIGTERM; logs JSON lines to standard error.
 * - sentinel-port 0: no Sentinel answerer.
 * - workers: number of threads that serve endpoints; default: from the machine's cores.
 * - check: only tests that all program files can be read.
 */
// Files are readable only by their owner, whichever agent has started it. Applies to its threads, too.
process.umask(0o077)
const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    socket: { type: 'string' },
    'sentinel-host': { type: 'string', default: '127.0.0.1' },
    'sentinel-port': { type: 'string', default: '0' },
    workers: { type: 'string', default: String(countWorkers(availableParallelism())) },
    check: { type: 'boolean', default: false },
  },
})
const { home, socket } = values
if (home === undefined) throw new Error('usage: main.ts --home FOLDER [--socket PATH]')
const sentinel = { host: values['sentinel-host'], port: Number(values['sentinel-port']) }
if (!(Number.isInteger(sentinel.port) && sentinel.port >= 0 && sentinel.port <= 65_535))
  throw new Error(`--sentinel-port is a port, not ${values['sentinel-port']}`)
const workers = Number(values.workers)
if (!(Number.isInteger(workers) && workers >= 1 && workers <= 64))
  throw new Error(`--workers is a number from 1 to 64, not ${values.workers}`)

if (values.check) {
  for (const thread of ['worker', 'heartbeat'])
    accessSync(fileURLToPath(import.meta.resolve(`@fairlead/proxy/${thread}`)), constants.R_OK)
  accessSync(home, constants.W_OK)
  process.exit(0)
}

const log: Log = (what, details) => {
  const request = currentRequestId()
  const line = { at: new Date().toISOString(), what, ...(request !== undefined && { request }), ...details }
  process.stderr.write(`${JSON.stringify(line)}\n`)
}
const proxy = await createProxy({
  home,
  socketPath: socket ?? join(home, 'proxy.sock'),
  sentinel,
  workers,
  log,
  onBroken(why) {
    log('a worker has ended, and the proxy with it', { why })
    // Without one of its threads the proxy would serve only some clients: the agent starts a new one.
    throw new Error(`a worker of the proxy has ended: ${why}`)
  },
})

const end = (): void => {
  void proxy[Symbol.asyncDispose]().then(() => process.exit(0))
}
process.once('SIGTERM', end)
process.once('SIGINT', end)
