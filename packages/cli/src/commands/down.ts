import { setTimeout as pause } from 'node:timers/promises'
import { isAlive, lookAtServing, type Serving, signalProcess, stopAllShards } from '@fairlead/agent'
import type { Config } from '@fairlead/server'
import { upFile } from '../home/up-file.ts'
import { confirm, type Yes } from '../output/ask.ts'
import { counted } from '../output/show-quantity.ts'
import type { Terminal } from '../output/terminal.ts'
import { createLog } from '../parts/create-log.ts'

const ENDS_WITHIN_MS = 60_000
/** Each process saves its data first, in 5 to 10 s per GiB. */
const SHARDS_WITHIN_MS = 10 * 60_000

/** The options of `down`. */
export interface DownOptions {
  readonly all?: boolean
  readonly yes?: Yes
}

/**
 * Stops `fairlead up`; with `all` also the proxy and all database processes, after saving their data. Asks
 * first while databases serve. Throws CommandFault, and stops nothing, unless the answer is yes.
 */
export async function runDown(
  config: Config,
  terminal: Terminal,
  { all = false, yes }: DownOptions,
): Promise<void> {
  if (all) await askWhileServing(config, terminal, yes)
  const up = upFile(config).read()
  if (up !== null) {
    signalProcess(up, 'SIGTERM')
    await untilGone(() => isAlive(up), `process ${up.pid} (fairlead up) does not end`)
  }
  process.stdout.write(up === null ? 'The control plane was not running\n' : 'The control plane is stopped\n')
  if (!all) return

  const { stopped, refused, proxyStopped } = await stopAllShards(
    config.home,
    createLog(config, 'agent'),
    AbortSignal.timeout(SHARDS_WITHIN_MS),
  )
  process.stdout.write(`${stopped.length} database process${stopped.length === 1 ? '' : 'es'} stopped\n`)
  if (proxyStopped) process.stdout.write('The proxy is stopped\n')
  for (const { id, why } of refused) process.stderr.write(`fairlead: ${id} keeps running: ${why}\n`)
  if (refused.length > 0) process.exitCode = 1
}

async function askWhileServing(config: Config, terminal: Terminal, yes: Yes): Promise<void> {
  const serving = await lookAtServing(config.home, createLog(config, 'agent'))
  if (serving.processes === 0) return
  const about = `Stop ${describeServing(serving)} on ${config.home}?`
  await confirm(terminal, `${about} They keep their data and come back at the next start.`, yes)
}

/** "2 databases, with 5 clients connected". */
function describeServing({ processes, endpoints }: Serving): string {
  if (endpoints === null) return counted(processes, 'database process', 'database processes')
  return `${counted(endpoints.databases, 'database')}, with ${counted(endpoints.clients, 'client')} connected`
}

async function untilGone(isThere: () => boolean, otherwise: string): Promise<void> {
  const deadline = performance.now() + ENDS_WITHIN_MS
  while (isThere()) {
    if (performance.now() > deadline) throw new Error(otherwise)
    await pause(20)
  }
}
