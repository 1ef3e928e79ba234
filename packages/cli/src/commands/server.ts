import { once } from 'node:events'
import { isServerOfRoot } from '@fairlead/agent'
import { type Config, type ControlPlane, createControlPlane } from '@fairlead/server'
import type { Logger } from 'pino'
import { openHome } from '../home/open-home.ts'
import { createLog } from '../parts/create-log.ts'
import { describeReady, readyOf } from '../parts/ready.ts'
import { type PartCommand, serverCommand } from '../parts/server-command.ts'
import { startPart } from '../parts/start-part.ts'
import { announce, untilStopped } from '../parts/until-stopped.ts'

/** Runs the server until it is stopped: in this process, or in a child process if it has a separate user. */
export async function runServer(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  const stopped = untilStopped()
  const log = createLog(config, 'server')
  if (!isServerOfRoot()) {
    openHome(config.home, log)
    const command = await serverCommand(config, process.argv[1] ?? '', env, log)
    if (command.isOther) return await runOther(config, command, stopped)
  }
  const asked = new AbortController()
  void stopped.then(() => asked.abort())
  await using server = await startUnless(asked.signal, config, log)
  if (server === null) return
  const { url, https, generatedPassword, waitsToBeCreated, bootstrapSecret } = server
  const ready = {
    url,
    httpsUrl: https?.url,
    trust: https?.trust ?? undefined,
    generatedPassword,
    bootstrapSecret,
    next: waitsToBeCreated ? 'create' : undefined,
  }
  announce(ready, describeReady(config, ready))
  await stopped
}

/** Returns null if it was stopped before it was ready. */
async function startUnless(stop: AbortSignal, config: Config, log: Logger): Promise<ControlPlane | null> {
  try {
    return await createControlPlane(config, { now: Date.now, log, stop })
  } catch (cause) {
    if (stop.aborted) return null
    throw cause
  }
}

async function runOther(config: Config, command: PartCommand, stopped: Promise<void>): Promise<void> {
  const child = startPart(command)
  const ended = once(child, 'close').then(() => 'ended' as const)
  child.once('message', (news) => {
    const ready = readyOf(news)
    announce({ ...ready }, describeReady(config, ready))
  })
  if ((await Promise.race([ended, stopped])) !== 'ended') child.kill('SIGTERM')
  await ended
  process.exitCode = child.exitCode ?? 1
}
