import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Ready } from './commands/server.ts'
import { nodeFlags } from './node-flags.ts'

/** A part of the control plane that is kept running as a process of its own. Disposing of it stops the process. */
export interface Part extends AsyncDisposable {
  /** What the first process said when it was ready. */
  readonly ready: Ready
  /** Resolves with the reason when it died too often to go on. */
  readonly givenUp: Promise<Error>
}

/** Deaths in a row after which it is given up; a life of a minute clears the count. */
const MOST_DEATHS = 5
const HEALTHY_AFTER_MS = 60_000
const READY_WITHIN_MS = 30_000
const STOPS_WITHIN_MS = 20_000

/**
 * Starts `fairlead <name>` and waits until it is ready; starts it again with back-off when it dies later. Throws when
 * the first process does not become ready: it has said on stderr why.
 */
export async function keepPart(name: 'agent' | 'server', log: Logger): Promise<Part> {
  let stopping = false
  let child = startPart(name)
  const ready = await untilReady(child, name)
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<Error>()

  const keep = async () => {
    let deaths = 0
    for (;;) {
      const startedAt = performance.now()
      await untilEnded(child)
      if (stopping) return
      deaths = performance.now() - startedAt > HEALTHY_AFTER_MS ? 1 : deaths + 1
      log.error({ name, deaths }, 'a part of the control plane died; databases run on')
      if (deaths >= MOST_DEATHS) return giveUp(new Error(`the ${name} died ${deaths} times in a row`))
      await pause(100 * 2 ** deaths)
      if (stopping) return
      child = startPart(name)
    }
  }
  const keeping = keep()

  return {
    ready,
    givenUp,
    async [Symbol.asyncDispose]() {
      stopping = true
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS)
      await keeping
      clearTimeout(late)
    },
  }
}

function startPart(name: string): ChildProcess {
  const main = process.argv[1] ?? ''
  // Ctrl-C reaches the whole foreground group; only `up` acts on it and stops its parts in order.
  return spawn(process.execPath, [...nodeFlags(name), ...process.execArgv, main, name], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  })
}

async function untilReady(child: ChildProcess, name: string): Promise<Part['ready']> {
  const deadline = AbortSignal.timeout(READY_WITHIN_MS)
  const [news] = await Promise.race([
    once(child, 'message', { signal: deadline }),
    once(child, 'exit', { signal: deadline }).then(() => {
      throw new Error(`the ${name} did not start`)
    }),
  ])
  return news as Part['ready']
}

async function untilEnded(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
