import { connectEngine, type EngineConnection, EngineUnreachable, type Reply } from '@fairlead/engine'
import type { BuildName } from '../engine-pairs.ts'
import { freePort } from '../free-port.ts'
import { type EngineProcess, soonInSync, spawnEngine } from '../spawn-engine.ts'
import { until } from '../until.ts'

/** The options of an engine's start. */
export interface Loading {
  /** The .so file; absent: none. */
  readonly module?: string | undefined
  readonly moduleArgs?: readonly string[]
  /** "appendonly yes" and the like, as in a configuration file. */
  readonly settings?: readonly string[]
}

/**
 * An engine of a test, bare, without Fairlead, in a folder of its own. Disposing of it kills it, hung or not.
 */
export interface TestEngine extends AsyncDisposable {
  readonly port: number
  /** Throws EngineUnreachable when there is no answer within the deadline: hung, or dead. */
  call(command: string, ...args: readonly (string | number)[]): Promise<Reply>
  /** A field of INFO; '' when there is none. */
  info(section: string, field: string): Promise<string>
  /** Its whole log since its folder was made. */
  log(): Promise<string>
  /** SHUTDOWN with `how`, then `startAgain`. */
  restart(how: 'SAVE' | 'NOSAVE', loading: Loading): Promise<void>
  /**
   * Once it has ended: the same folder and port, with what is to be loaded now. Throws like
   * startModuleEngine.
   */
  startAgain(loading: Loading): Promise<void>
  readonly hasEnded: boolean
}

const host = '127.0.0.1'
const startWithinMs = 10_000
const commandWithinMs = 2_000

/**
 * Starts `build` with a module, as the tests of modules need it: it may end or hang, with its log as the
 * error, and start again with other modules. Resolves when it answers.
 */
export async function startModuleEngine(
  build: BuildName,
  loading: Loading & { readonly commandWithinMs?: number },
): Promise<TestEngine> {
  await using opened = new AsyncDisposableStack()
  const port = await freePort()
  const engine = opened.use(await spawnEngine(build, { lines: linesOf(port, loading) }))
  const connect = () => untilAnswers(engine, port, loading.commandWithinMs ?? commandWithinMs)
  let connection = await connect()
  opened.defer(() => connection[Symbol.dispose]())

  const call: TestEngine['call'] = (...words) => connection.call(...words)
  const startAgain = async (next: Loading) => {
    connection[Symbol.dispose]()
    await engine.startAgain(build, linesOf(port, next))
    connection = await connect()
  }
  const owned = opened.move()
  return {
    port,
    call,
    info: async (section, field) =>
      new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(await connection.info(section))?.[1] ?? '',
    log: engine.log,
    async restart(how, next) {
      const ended = engine.ended()
      await call('SHUTDOWN', how).catch((cause: unknown) => {
        if (!(cause instanceof EngineUnreachable)) throw cause // the end of the connection is the answer
      })
      await ended
      await startAgain(next)
    },
    startAgain,
    get hasEnded() {
      return engine.hasEnded
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The error of an engine that should refuse to start. Throws when it starts. */
export async function logOfRefusal(build: BuildName, loading: Loading): Promise<string> {
  try {
    await using _engine = await startModuleEngine(build, loading)
  } catch (cause) {
    if (cause instanceof EngineEnded) return cause.log
    throw cause
  }
  throw new Error(`${build} starts with ${JSON.stringify(loading)}`)
}

/** The engine ended by itself before it answered. */
class EngineEnded extends Error {
  override readonly name = 'EngineEnded'
  readonly log: string
  constructor(log: string) {
    super(`the engine ended: ${log.trimEnd().split('\n').slice(-5).join('\n')}`)
    this.log = log
  }
}

async function untilAnswers(
  engine: EngineProcess,
  port: number,
  commandTimeoutMs: number,
): Promise<EngineConnection> {
  const look = async () => {
    if (engine.hasEnded) throw new EngineEnded(await engine.log())
    const address = { host, port }
    const login = { username: 'default', password: 'any' }
    const connection = await connectEngine({ address, login, commandTimeoutMs }).catch(() => null)
    if (connection === null) return null
    // While it loads its data it answers PING already, with an error.
    if ((await connection.call('PING').catch(() => null)) === 'PONG') return connection
    connection[Symbol.dispose]()
    return null
  }
  return until('the engine answers', look, { withinMs: startWithinMs })
}

function linesOf(port: number, { module, moduleArgs = [], settings = [] }: Loading): readonly string[] {
  const own = [`port ${port}`, `bind ${host}`, 'save ""', ...soonInSync]
  const load = module === undefined ? [] : [['loadmodule', module, ...moduleArgs].join(' ')]
  return [...own, ...settings, ...load]
}
