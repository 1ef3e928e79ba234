import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createProxy, type Log } from './proxy.ts'

/**
 * The program: node main.ts --home FOLDER [--socket PATH] [--sentinel-host 127.0.0.1] [--sentinel-port 8001]. Port 0: no
 * Sentinel answerer. Runs until SIGTERM; logs JSON lines to standard error.
 */
const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    socket: { type: 'string' },
    'sentinel-host': { type: 'string', default: '127.0.0.1' },
    'sentinel-port': { type: 'string', default: '8001' },
  },
})
const { home, socket } = values
if (home === undefined) throw new Error('usage: main.ts --home FOLDER [--socket PATH]')
const sentinel = { host: values['sentinel-host'], port: Number(values['sentinel-port']) }
if (!(Number.isInteger(sentinel.port) && sentinel.port >= 0 && sentinel.port <= 65_535))
  throw new Error(`--sentinel-port is a port, not ${values['sentinel-port']}`)

const log: Log = (what, details) =>
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), what, ...details })}\n`)
const proxy = await createProxy({ home, socketPath: socket ?? join(home, 'proxy.sock'), sentinel, log })

const end = (): void => {
  void proxy[Symbol.asyncDispose]().then(() => process.exit(0))
}
process.once('SIGTERM', end)
process.once('SIGINT', end)
