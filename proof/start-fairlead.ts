import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stopAllShards } from '@fairlead/agent'
import { type Action, type Client, createClient, fetchTransport, operations } from '@fairlead/api'
import { loadConfig } from '@fairlead/server'
import { pino } from 'pino'
import { nodeFlags } from '../packages/cli/src/parts/node-flags.ts'
import { serverCommand } from '../packages/cli/src/parts/server-command.ts'
import { claimPorts } from './claim-ports.ts'
import { creatingSmallest } from './creating-smallest.ts'
import { enginesFolder } from './engines-folder.ts'
import { closeToServer, openToServer } from './share-compiled.ts'

/** A whole Fairlead in a folder of its own: agent and server as processes, as users run them. */
export interface Fairlead extends AsyncDisposable {
  readonly home: string
  /** The environment of its parts. */
  readonly environment: Readonly<Record<string, string>>
  readonly url: string
  /** Speaks as the admin. */
  readonly api: Client<typeof operations>
  readonly token: string
  readonly agent: Part
  readonly server: Part
  /** Waits for the end of an action. Throws when it does not come in time. */
  untilEnded(actionUid: string | undefined, withinMs?: number): Promise<Action>
}

/** One process of the control plane, which a test may kill and start again. */
export interface Part {
  readonly pid: number
  /** Sends a signal and waits for the end of the process. */
  end(signal: NodeJS.Signals): Promise<void>
  /** Waits until the process has ended by itself. */
  readonly ended: Promise<void>
  /**
   * "running", or how its process ended: "ended with code 1", "ended by SIGKILL". For the message of an
   * assertion.
   */
  readonly fate: string
  /** Starts it again; throws when it does not become ready. */
  start(env?: Readonly<Record<string, string>>): Promise<void>
}

const root = join(import.meta.dirname, '..')
const main = join(root, 'packages/cli/src/main.ts')
const compiled = join(root, '.fairlead', 'compiled')
export const adminPassword = 'the-proof-is-in-the-ledger'
/**
 * A start takes some 3 s of a processor: half a minute where 20 others want it, too. One that fails ends
 * earlier.
 */
const START_WITHIN_MS = 120_000
/**
 * An upgrade of modules answers when it is done: that took 11 s where 20 processes wanted the two processors.
 */
export const ANSWER_WITHIN_MS = 60_000

/**
 * Starts Fairlead with engine builds from FAIRLEAD_ENGINES, on a free port. Disposing of it ends everything
 * that it started, engines included, and removes its folder.
 *
 * `serverMain` starts another program as the server, and the crash-agent.ts in its folder as the agent: tests
 * use them to crash in chosen places.
 */
export async function startFairlead(
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly serverMain?: string
    /** The folder in which its own folder is made. */
    readonly parent?: string
    /** An existing folder, which is not removed. */
    readonly home?: string
    /** Takes what server and agent log. By default it goes to standard error. */
    readonly onLog?: (text: string) => void
  } = {},
): Promise<Fairlead> {
  await using opened = new AsyncDisposableStack()
  const home = options.home ?? (await mkdtemp(join(options.parent ?? tmpdir(), 'fairlead-')))
  if (options.home === undefined) opened.defer(() => rm(home, { recursive: true, force: true }))
  // Shards and servers keep their ports also while they do not run.
  const ports = opened.use(await claimPorts())
  opened.defer(() => stopEngines(home))

  const shardTls = process.env['FAIRLEAD_SHARD_TLS']
  const env = {
    FAIRLEAD_HOME: home,
    FAIRLEAD_ADMIN_PASSWORD: adminPassword,
    FAIRLEAD_ENGINES: enginesFolder(),
    FAIRLEAD_PORT_RANGE: `${ports.from}-${ports.to - 1}`,
    FAIRLEAD_HTTP_PORT: String(ports.to),
    // A port more for tests that are about it.
    FAIRLEAD_HTTPS_PORT: '0',
    FAIRLEAD_LOG_LEVEL: 'error',
    FAIRLEAD_SENTINEL_PORT: '0',
    // Of the environment of the run: docs/testing.md.
    ...(shardTls !== undefined && { FAIRLEAD_SHARD_TLS: shardTls }),
    ...options.env,
  }
  const { serverMain } = options
  const agentMain = serverMain && join(dirname(serverMain), 'crash-agent.ts')
  // Both start at the same time: each can wait for the other.
  const started = await Promise.allSettled([
    startPart(agentMain === undefined ? [main, 'agent'] : [agentMain, 'agent'], env, options.onLog),
    startPart(serverMain === undefined ? [main, 'server'] : [serverMain], env, options.onLog),
  ])
  // If one of them does not start, the other must be ended.
  const [agent, server] = started.map((part) => (part.status === 'fulfilled' ? opened.use(part.value) : null))
  const failed = started.find((part) => part.status === 'rejected')
  if (agent == null || server == null) throw failed?.reason

  const transport = (request: Parameters<ReturnType<typeof fetchTransport>>[0]) =>
    fetchTransport(server.url(), ANSWER_WITHIN_MS)(request)
  const login = createClient(operations, transport)
  const { access_token: token } = await login.authorizeUser({
    body: { username: 'admin', password: adminPassword, ttl: 86_400 },
  })
  const api = creatingSmallest(createClient(operations, transport, () => token))
  // Upgrades begin at builds that are old on purpose, and other builds of a machine may be old, too.
  await api.updateCluster({ body: { unsound_engines_allowed: true } })

  const owned = opened.move()
  return {
    home,
    environment: env,
    api,
    token,
    agent,
    server,
    get url() {
      return server.url()
    },
    untilEnded: (actionUid, withinMs = 120_000) =>
      untilEnded(api, actionUid, withinMs).catch((cause: Error) => {
        throw new Error(`agent: ${agent.fate}, server: ${server.fate}; ${cause.message}`, { cause })
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function untilEnded(
  api: Fairlead['api'],
  actionUid: string | undefined,
  withinMs: number,
): Promise<Action> {
  if (actionUid === undefined) throw new Error('there is no action to wait for')
  const began = performance.now()
  const deadline = began + withinMs
  let last: Action | undefined
  while (performance.now() < deadline) {
    // The server may be down for a moment: that is what some tests are about.
    last = await api.getAction({ params: { uid: actionUid } }).catch(() => last)
    if (last?.status === 'completed' || last?.status === 'failed') return last
    // Each request costs processor time: after a long wait it asks less often.
    await pause(performance.now() - began < 2_000 ? 20 : 100)
  }
  throw new Error(
    `not within ${withinMs} ms: the end of action ${actionUid}; last seen: ${JSON.stringify(last)}`,
  )
}

/**
 * Starts a part of Fairlead, or a program that sends a message when it is ready (`args`: its file, and its
 * arguments).
 */
export async function startPart(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onLog?: (text: string) => void,
): Promise<Part & AsyncDisposable & { url(): string }> {
  let child = await startProcess(args, env, onLog)
  return {
    get pid() {
      return child.process.pid ?? 0
    },
    get ended() {
      return untilProcessEnded(child.process)
    },
    get fate() {
      const { exitCode, signalCode } = child.process
      if (signalCode !== null) return `ended by ${signalCode}`
      return exitCode === null ? 'running' : `ended with code ${exitCode}`
    },
    url: () => child.url,
    async end(signal) {
      child.process.kill(signal)
      await untilProcessEnded(child.process)
    },
    async start(more = {}) {
      child = await startProcess(args, { ...env, ...more }, onLog)
    },
    async [Symbol.asyncDispose]() {
      child.process.kill('SIGTERM')
      await untilProcessEnded(child.process)
      const { FAIRLEAD_HOME: home } = env
      if (home !== undefined) await closeToServer(compiled, home)
    },
  }
}

async function startProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onLog?: (text: string) => void,
): Promise<{ process: ChildProcess; url: string }> {
  // Node's compile cache is kept, because a Fairlead starts for almost every test.
  const all = { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_COMPILE_CACHE: compiled, ...env }
  const command = await commandOf(args, all)
  const child = spawn(command.program, command.args, {
    env: command.env,
    stdio: ['ignore', 'ignore', onLog === undefined ? 'inherit' : 'pipe', 'ipc'],
  })
  if (onLog !== undefined) child.stderr?.setEncoding('utf8').on('data', onLog)
  const deadline = AbortSignal.timeout(START_WITHIN_MS)
  const [news] = await Promise.race([
    once(child, 'message', { signal: deadline }),
    once(child, 'exit', { signal: deadline }).then(() => {
      throw new Error(`${args.join(' ')} did not start`)
    }),
  ]).catch((cause: unknown) => {
    // The process may only be slow: without this it would listen on the port of the next test.
    child.kill('SIGKILL')
    if (!deadline.aborted) throw cause
    const seconds = START_WITHIN_MS / 1_000
    throw new Error(
      `${args.join(' ')} did not start within ${seconds} s: the machine is too busy, or it hangs`,
      { cause },
    )
  })
  return { process: child, url: (news as { url?: string }).url ?? '' }
}

/** As `fairlead up` starts it: the server may run as a user of its own, and is then this very process. */
async function commandOf(args: readonly string[], env: NodeJS.ProcessEnv) {
  const [program = '', part = 'server'] = args
  if (part === 'server' && args.length === 2 && process.geteuid?.() === 0) {
    const config = loadConfig(env)
    const command = await serverCommand(config, program, env, pino({ level: 'silent' }), [FROM_SOURCE])
    if (command.isOther) await openToServer(compiled, config.home)
    return command
  }
  return { program: process.execPath, args: [...nodeFlags(part), FROM_SOURCE, ...args], env }
}

const FROM_SOURCE = '--conditions=@fairlead/source'

async function untilProcessEnded(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

async function stopEngines(home: string): Promise<void> {
  await stopAllShards(home, pino({ level: 'silent' }), AbortSignal.timeout(60_000))
}
