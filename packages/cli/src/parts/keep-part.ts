import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { nodeFlags } from './node-flags.ts'
import { type Ready, readyOf } from './ready.ts'
import type { PartCommand } from './server-command.ts'
import { startPart } from './start-part.ts'

/** A part of the control plane that is kept running as a separate process. Disposing stops the process. */
export interface Part extends AsyncDisposable {
  /** The first process's message when it was ready. */
  readonly ready: Ready
}

/** The pause before a restart grows with each death in a row; a minute of life resets it. */
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000
const HEALTHY_AFTER_MS = 60_000
const SAY_EVERY_MS = 15_000
const STOPS_WITHIN_MS = 20_000

/** `fairlead <name>`, run by the same user in the same way as this program. */
export function ownCommand(name: string, env: NodeJS.ProcessEnv): PartCommand {
  const args = [...nodeFlags(name), ...process.execArgv, process.argv[1] ?? '', name]
  return { program: process.execPath, args, env, isOther: false }
}

export interface Keeping {
  /** Aborted when this program is stopped. Has no effect later: dispose of the part instead. */
  readonly stop: AbortSignal
  /** Interval of lines that the first process is not ready yet. Default 15,000 ms. */
  readonly sayEveryMs?: number
}

/**
 * Starts `fairlead <name>` and waits without limit until it is ready: a server waits for PostgreSQL, and an
 * agent may have many shards. Restarts it forever after pauses of up to 10 s, so that one part's failure does
 * not end the supervision of all databases. Throws if the first process ends before it is ready (its stderr
 * has the reason), and when `stop` is aborted.
 */
export async function keepPart(
  name: 'agent' | 'server',
  command: PartCommand,
  log: Logger,
  { stop: asked, sayEveryMs = SAY_EVERY_MS }: Keeping,
): Promise<Part> {
  const stop = new AbortController()
  let life = begin(command)
  const say = setInterval(() => {
    log.warn({ name }, 'it is not ready yet; its own lines say what it waits for')
  }, sayEveryMs)
  const ready = await untilReady(life, name, asked)
    .catch(async (cause: unknown) => {
      // A server left alone would start work later, without an agent and this program.
      await endLife(life)
      throw cause
    })
    .finally(() => clearInterval(say))

  const keep = async () => {
    let deaths = 0
    for (;;) {
      const startedAt = performance.now()
      const { how, wasAsked } = await life.ended
      if (stop.signal.aborted) return
      deaths = performance.now() - startedAt > HEALTHY_AFTER_MS ? 1 : deaths + 1
      const afterMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (deaths - 1))
      const noted = { name, deaths, how, afterMs }
      if (wasAsked)
        log.warn(noted, 'a part of the control plane was stopped by another program, and is started again')
      else log.error(noted, 'a part of the control plane died; databases keep running')
      await pause(afterMs, undefined, { signal: stop.signal }).catch(() => undefined)
      if (stop.signal.aborted) return
      life = begin(command)
    }
  }
  const keeping = keep()

  return {
    ready,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await endLife(life)
      await keeping
    },
  }
}

/** One process of a part. */
interface Life {
  /** Undefined: none. */
  readonly child: ChildProcess | undefined
  /** Never rejects. */
  readonly ended: Promise<Ending>
}

interface Ending {
  /** How it ended, or why it could not start. */
  readonly how: string
  /** It was stopped on request. */
  readonly wasAsked: boolean
}

/** Never throws: a lack of files, processes or memory, or of a program being replaced, is temporary. */
function begin(command: PartCommand): Life {
  const { promise: ended, resolve } = Promise.withResolvers<Ending>()
  try {
    const child = startPart(command)
    child.on('error', (cause) => {
      if (child.pid === undefined) resolve({ how: cause.message, wasAsked: false })
    })
    child.once('exit', (code, signal) =>
      resolve({ how: signal ?? `exit code ${code}`, wasAsked: code === 0 || signal === 'SIGTERM' }),
    )
    return { child, ended }
  } catch (cause) {
    resolve({ how: cause instanceof Error ? cause.message : String(cause), wasAsked: false })
    return { child: undefined, ended }
  }
}

async function untilReady({ child, ended }: Life, name: string, stop: AbortSignal): Promise<Part['ready']> {
  const { promise: news, resolve } = Promise.withResolvers<unknown>()
  child?.once('message', resolve)
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const refuse = () => reject(new Error(`asked to stop before the ${name} was ready`))
  if (stop.aborted) refuse()
  stop.addEventListener('abort', refuse, { once: true })
  const failed = ended.then(({ how }) => {
    throw new Error(`the ${name} did not start: ${how}`)
  })
  try {
    return readyOf(await Promise.race([news, stopped, failed]))
  } finally {
    stop.removeEventListener('abort', refuse)
    child?.off('message', resolve)
  }
}

async function endLife({ child, ended }: Life): Promise<void> {
  child?.kill('SIGTERM')
  const late = setTimeout(() => child?.kill('SIGKILL'), STOPS_WITHIN_MS)
  await ended
  clearTimeout(late)
}
