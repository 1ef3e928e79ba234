import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { placeServer, type ServerProgram, withinServerWall } from '@fairlead/agent'
import type { Config } from '@fairlead/server'
import type { Logger } from 'pino'
import { nodeFlags } from './node-flags.ts'

/** The command of a part of the control plane. */
export interface PartCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Runs as another user: its output is not trusted, and it gets no terminal. */
  readonly isOther: boolean
}

/** Linux lets only root open lower ports. */
const FIRST_HIGH_PORT = 1_024
/** Variables for a server with another user, in addition to its settings. None may be secret. */
const TOLD = ['PATH', 'TZ', 'LANG', 'LC_ALL', 'NODE_COMPILE_CACHE']

/**
 * Returns the server's command: as a separate user if possible (agent/src/server/), after moving its files
 * there; otherwise as this user, with a warning in the log if that is root. `main` is the command line's
 * program, `flags` are Node's.
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

/** Returns a command that runs as the server's user within its wall; null: there is no separate user. */
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

/** Files that the server needs for PostgreSQL: the folder of a Unix socket, the trusted certificate. */
function wayToStore({ store }: Config): readonly string[] {
  if (store === undefined) return []
  const files = [store.host.startsWith('/') ? store.host : undefined, store.tls?.rootCertificate]
  return files.flatMap((file) => (typeof file === 'string' ? [resolve(file)] : []))
}

function envOf({ home }: Config, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isTold = (name: string) =>
    TOLD.includes(name) || name.startsWith('FAIRLEAD_') || name.startsWith('OTEL_')
  const told = Object.entries(env).filter(([name]) => isTold(name))
  // Caches compiled code for a faster next start.
  const cache = { NODE_COMPILE_CACHE: join(home, 'server', 'own', 'cache') }
  return { ...cache, ...Object.fromEntries(told), FAIRLEAD_HOME: home }
}
