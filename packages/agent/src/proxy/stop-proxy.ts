import type { Logger } from 'pino'
import { waitForEnd } from '../engine/stop-process.ts'
import { isAlive, type ProcessIdentity, signalProcess } from '../process/process-identity.ts'
import { type ProxyFolder, proxyFolder } from './proxy-folder.ts'

/** Time between SIGTERM and SIGKILL: there is nothing to save. */
const TERM_WITHIN_MS = 3_000

/** Ends the proxy of `home`, recorded or not, if no agent runs; true if one ran. An agent restarts it. */
export async function stopProxy(home: string, logger: Logger, signal: AbortSignal): Promise<boolean> {
  const folder = proxyFolder(home)
  const last = await folder.read().catch(() => null)
  let ended = false
  // There may be two: of two started at the same time, the second waits briefly for the first before it gives
  // up.
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
