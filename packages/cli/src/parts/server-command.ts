import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { placeServer, type ServerProgram, withinServerWall } from '@fairlead/agent'
import type { Config } from '@fairlead/server'
import type { Logger } from 'pino'
import { nodeFlags } from './node-flags.ts'

/** How a part of the control plane is started. */
export interface PartCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** True: it runs as another user, so that its output is not trusted, and it gets no terminal. */
  readonly isOther: boolean
}

/** Linux lets only root open ports below this one. */
const FIRST_HIGH_PORT = 1_024
/** Variables of this environment that a server of another user gets in addition to its settings. None of them may be secret. */
const TOLD = ['PATH', 'TZ', 'LANG', 'LC_ALL', 'NODE_COMPILE_CACHE']

/**
 * How the server is started: as a user of its own if that is possible (agent/src/server/), after its files were moved there;
 * otherwise as this one, and if that is root, the log says why. `main` is the program of the command line, `flags` are Node's, and `env`
 * is the environment.
 */
export async function serverCommand(
  config: Config,
  main: string,
  env: NodeJS.ProcessEnv,
  log: Pick<Logger, 'warn'>,
  flags: readonly string[] = process.execArgv,
): Promise<PartCommand> {
  const place = await placeServer(programOf(config, main, ['server'], env, flags))
  const { program, args, why } = place
  if (why === undefined) return { program, args, env: envOf(config, env), isOther: true }
  if (process.geteuid?.() === 0)
    log.warn({ why }, 'the server runs as root: clients of the API speak to a process of root')
  return { program, args, env, isOther: false }
}

/** How another command is run as the server's user, within its wall; null: the server has no user of its own. */
export async function asServerCommand(
  config: Config,
  main: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<PartCommand | null> {
  const inside = await withinServerWall(programOf(config, main, args, env, process.execArgv))
  return inside && { program: 'unshare', args: inside, env: envOf(config, env), isOther: true }
}

function programOf(
  config: Config,
  main: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  flags: readonly string[],
): ServerProgram {
  const { home, httpPort, httpsPort, serverWall, engineWall } = config
  const { NODE_COMPILE_CACHE: compileCache } = env
  return {
    home,
    program: process.execPath,
    args: [...nodeFlags('server'), ...flags, main, ...args],
    lowPorts: [httpPort, httpsPort].some((port) => port > 0 && port < FIRST_HIGH_PORT),
    isWanted: serverWall && engineWall,
    shown: [
      ...(compileCache === undefined || !existsSync(compileCache) ? [] : [resolve(compileCache)]),
      ...wayToStore(config),
    ],
  }
}

/** The files that the server reads to reach its PostgreSQL: the folder of a Unix socket, the trusted certificate. */
function wayToStore({ store }: Config): readonly string[] {
  if (store === undefined) return []
  const files = [store.host.startsWith('/') ? store.host : undefined, store.tls?.rootCertificate]
  return files.flatMap((file) => (typeof file === 'string' ? [resolve(file)] : []))
}

function envOf({ home }: Config, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isTold = (name: string) =>
    TOLD.includes(name) || name.startsWith('FAIRLEAD_') || name.startsWith('OTEL_')
  const told = Object.entries(env).filter(([name]) => isTold(name))
  // Compiled code is kept, so that the next start is faster.
  const cache = { NODE_COMPILE_CACHE: join(home, 'server', 'own', 'cache') }
  return { ...cache, ...Object.fromEntries(told), FAIRLEAD_HOME: home }
}
