import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createProxy, type Log } from './proxy.ts'

/** The program: node main.ts --home FOLDER [--socket PATH]. Runs until SIGTERM; logs JSON lines to standard error. */
const { values } = parseArgs({ options: { home: { type: 'string' }, socket: { type: 'string' } } })
const { home, socket } = values
if (home === undefined) throw new Error('usage: main.ts --home FOLDER [--socket PATH]')

const log: Log = (what, details) =>
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), what, ...details })}\n`)
const proxy = await createProxy({ home, socketPath: socket ?? join(home, 'proxy.sock'), log })

const end = (): void => {
  void proxy[Symbol.asyncDispose]().then(() => process.exit(0))
}
process.once('SIGTERM', end)
process.once('SIGINT', end)
