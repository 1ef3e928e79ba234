import type { Config } from '@fairlead/server'
import { openHome } from '../home/open-home.ts'
import { upFile } from '../home/up-file.ts'
import { createLog } from '../parts/create-log.ts'
import { keepPart, ownCommand } from '../parts/keep-part.ts'
import { describeReady } from '../parts/ready.ts'
import { serverCommand } from '../parts/server-command.ts'
import { untilStopped } from '../parts/until-stopped.ts'

/** Without a wall, all of Fairlead stays root; logs of server and proxy state that. */
const AS_ROOT = 'The agent runs as root: docs/security.md says how it gives root up.'

/**
 * Runs agent and server as separate processes in the foreground, and restarts them when they die. Ends on
 * Ctrl-C or SIGTERM: the control plane stops, databases keep running.
 */
export async function runUp(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  const log = createLog(config, 'up')
  openHome(config.home, log)
  const file = upFile(config)
  const other = file.read()
  if (other !== null)
    throw new Error(
      `fairlead up runs on ${config.home} already (process ${other.pid}). npm run -s fairlead -- down stops it and leaves the databases running; npm stop stops the databases, too`,
    )
  file.write()
  try {
    const stopped = untilStopped()
    const asked = new AbortController()
    void stopped.then(() => asked.abort())
    const keeping = { stop: asked.signal }
    log.info({ home: config.home }, 'agent and server are being started; with many shards that takes a while')
    // Before the agent: if the server no longer has a separate user, its start moves files that the agent
    // reads.
    const command = await serverCommand(config, process.argv[1] ?? '', env, log)
    await using _agent = await keepPart('agent', ownCommand('agent', env), log, keeping)
    await using server = await keepPart('server', command, log, keeping)
    process.stdout.write(`${describeReady(config, server.ready)}\n`)
    if (process.geteuid?.() === 0) process.stdout.write(`${AS_ROOT}\n`)
    await stopped
  } finally {
    file.remove()
  }
}
