import { createServer } from 'node:net'
import {
  connectEngine,
  type EngineAddress,
  EngineUnreachable,
  type ReplicationInfo,
  type Reply,
  readReplication,
} from '@fairlead/engine'
import { type EngineProcess, spawnEngine } from '../../proof/spawn-engine.ts'
import { until } from '../../proof/until.ts'

/** A process of the bench's own, with a folder of its own; disposing of it kills it. */
export interface BenchEngine extends AsyncDisposable {
  /**
   * Sends one command. If the last connection was closed, a new one is opened first. Throws the error of the
   * connection.
   */
  call(command: string, ...args: readonly (string | number)[]): Promise<Reply>
  /**
   * INFO replication. Asks a second time if the connection is closed in between, because Sentinel closes all
   * connections that it finds.
   */
  replication(): Promise<ReplicationInfo>
  /**
   * SHUTDOWN SAVE, then a start on this build with the same folder and settings. Resolves when the engine
   * answers.
   */
  restart(build: string): Promise<void>
  readonly host: string
  readonly port: number
}

/** Engines here are the bench's alone, on loopback; the ledger and Sentinel log in with it. */
export const PASSWORD = 'of-the-comparators'
const HOST = '127.0.0.1'
const START_WITHIN_MS = 10_000
const COMMAND_WITHIN_MS = 20_000

/**
 * Starts `build` ("valkey-8.1.1") as an engine with these settings, and resolves when it answers. Unlike
 * engines of tests it has a password, opens its connection again (Sentinel closes them), and may get another
 * build.
 */
export function startBenchEngine(build: string, settings: readonly string[]): Promise<BenchEngine> {
  return start(build, 'server', (port) => [
    `port ${port}`,
    `bind ${HOST}`,
    `requirepass ${PASSWORD}`,
    `masterauth ${PASSWORD}`,
    'save ""',
    'repl-diskless-sync-delay 0',
    ...settings,
  ])
}

/** Starts the Sentinel of `build`, which is the only voter. It writes what it learns into its file. */
export function startSentinel(build: string, name: string, primary: BenchEngine): Promise<BenchEngine> {
  return start(build, 'sentinel', (port) => [
    `port ${port}`,
    `bind ${HOST}`,
    `requirepass ${PASSWORD}`,
    `sentinel monitor ${name} ${primary.host} ${primary.port} 1`,
    `sentinel auth-pass ${name} ${PASSWORD}`,
  ])
}

async function start(
  build: string,
  program: 'server' | 'sentinel',
  configure: (port: number) => readonly string[],
): Promise<BenchEngine> {
  await using opened = new AsyncDisposableStack()
  const port = await freePort()
  const engine = opened.use(await spawnEngine(build, { program, lines: configure(port) }))
  const bench = await speakTo({ host: HOST, port }, `${build} answers`, engine)
  opened.move()
  return bench
}

async function speakTo(address: EngineAddress, what: string, engine: EngineProcess): Promise<BenchEngine> {
  const login = { username: 'default', password: PASSWORD }
  // A failover may keep a command waiting for longer than the connection's usual two seconds.
  const open = () => connectEngine({ address, login, commandTimeoutMs: COMMAND_WITHIN_MS })
  const answers = () => until(what, () => open().catch(() => null), { withinMs: START_WITHIN_MS })
  let connection = await answers()
  const call: BenchEngine['call'] = async (...words) => {
    if (!connection.usable) connection = await open()
    return await connection.call(...words)
  }
  const info = async () => readReplication(String(await call('INFO', 'replication')))
  return {
    ...address,
    call,
    replication: () =>
      info().catch((cause: unknown) => {
        if (cause instanceof EngineUnreachable) return info()
        throw cause
      }),
    async restart(build) {
      await call('SHUTDOWN', 'SAVE').catch((cause: unknown) => {
        if (!(cause instanceof EngineUnreachable)) throw cause // the end of the connection is the answer
      })
      await engine.ended()
      await engine.startAgain(build)
      connection[Symbol.dispose]()
      connection = await answers()
    },
    async [Symbol.asyncDispose]() {
      connection[Symbol.dispose]()
      await engine[Symbol.asyncDispose]()
    },
  }
}

/** With the port 10,000 above it, which the bus of a cluster takes. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 22_000 + Math.floor(Math.random() * 8_000)
    if ((await canListen(port)) && (await canListen(port + 10_000))) return port
  }
  throw new Error('no free port was found from 22000 to 29999')
}

function canListen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, HOST, () => server.close(() => resolve(true)))
  return promise
}
