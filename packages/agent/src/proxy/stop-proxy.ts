import type { Logger } from 'pino'
import { waitForEnd } from '../engine/stop-process.ts'
import { isAlive, type ProcessIdentity, signalProcess } from '../process/process-identity.ts'
import { type ProxyFolder, proxyFolder } from './proxy-folder.ts'

/** SIGTERM is given this long before SIGKILL: there is nothing to save. */
const TERM_WITHIN_MS = 3_000

/**
 * Ends the proxy process of `home`, recorded or not, while no agent runs. The next agent starts one again. True when one
 * ran.
 */
export async function stopProxy(home: string, logger: Logger, signal: AbortSignal): Promise<boolean> {
  const folder = proxyFolder(home)
  const last = await folder.read().catch(() => null)
  let ended = false
  // More than one: of two that were started at once, the second waits a moment for the first before it gives way.
  for (let identity = await findRunning(folder); identity !== null; identity = await findRunning(folder)) {
    if (signalProcess(identity, 'SIGTERM') && !(await waitForEnd(identity, TERM_WITHIN_MS, signal))) {
      signalProcess(identity, 'SIGKILL')
      await waitForEnd(identity, TERM_WITHIN_MS, signal)
    }
    logger.info({ pid: identity.pid }, 'proxy process is stopped')
    ended = true
  }
  if (last !== null && !last.ended)
    await folder.write({ ...last, ended: { at: Date.now(), how: 'stopped', why: 'was stopped' }, streak: 0 })
  return ended
}

async function findRunning(folder: ProxyFolder): Promise<ProcessIdentity | null> {
  const last = await folder.read().catch(() => null)
  const recorded = last?.identity && !last.ended && isAlive(last.identity) ? last.identity : null
  return recorded ?? folder.find()
}
