import { setTimeout as pause } from 'node:timers/promises'
import { isAlive, signalProcess, stopAllShards } from '@fairlead/agent'
import type { Config } from '@fairlead/server'
import { upFile } from '../home/up-file.ts'
import { createLog } from '../parts/create-log.ts'

const ENDS_WITHIN_MS = 60_000
/** Each process saves its data first, in 5 to 10 s per GiB. */
const SHARDS_WITHIN_MS = 10 * 60_000

/** Stops `fairlead up`; with `all` also the proxy and all database processes, after saving their data. */
export async function runDown(config: Config, all: boolean): Promise<void> {
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

async function untilGone(isThere: () => boolean, otherwise: string): Promise<void> {
  const deadline = performance.now() + ENDS_WITHIN_MS
  while (isThere()) {
    if (performance.now() > deadline) throw new Error(otherwise)
    await pause(20)
  }
}
