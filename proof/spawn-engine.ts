import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { enginesFolder } from './engines-folder.ts'

/**
 * The process of an engine of a test's own, in a folder of its own. Disposing of it kills it, hung or not,
 * and removes the folder.
 */
export interface EngineProcess extends AsyncDisposable {
  readonly folder: string
  /** The process that runs, or ran last. */
  readonly child: ChildProcess
  readonly hasEnded: boolean
  /** Resolves when it has ended. */
  ended(): Promise<void>
  /**
   * Starts this build in the same folder, after the former process has ended, with this configuration;
   * absent: with the present file.
   */
  startAgain(build: string, lines?: readonly string[]): Promise<void>
  /** Its whole log since its folder was made. */
  log(): Promise<string>
}

/**
 * Settings with which a replica is in sync within milliseconds. Without the second, a replica of valkey 9.1
 * writes a file, and notices only up to a second later that the file is complete.
 */
export const soonInSync: readonly string[] = ['repl-diskless-sync-delay 0', 'repl-diskless-load on-empty-db']

/** The program of a build to start, and its configuration. */
export interface EngineStart {
  readonly program?: 'server' | 'sentinel'
  /** The lines of its configuration file, which it may rewrite. */
  readonly lines: readonly string[]
  /** Arguments after the file: they override its lines. */
  readonly args?: readonly string[]
}

/**
 * Starts `build` ("valkey-8.1.1") for all tests, benchmarks and demos. It does not wait for an answer: each
 * caller has the connection that it needs (`packages/proxy/test/stage.ts` raw bytes,
 * `packages/server/test/engine.ts` Fairlead's users, `ledger/src/test-engine.ts` the ledger's own,
 * `proof/modules/start-module-engine.ts` modules, `bench/upgrade/start-engines.ts` Sentinel).
 */
export async function spawnEngine(
  build: string,
  { program = 'server', lines, args = [] }: EngineStart,
): Promise<EngineProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-engine-'))
  const conf = join(folder, `${program}.conf`)
  const start = async (of: string, next: readonly string[] | undefined): Promise<ChildProcess> => {
    if (next !== undefined) await writeFile(conf, [...next, ''].join('\n'), { mode: 0o600 })
    await using log = await open(join(folder, 'log'), 'a')
    const file = join(enginesFolder(), of, 'bin', `${of.slice(0, of.lastIndexOf('-'))}-${program}`)
    const child = spawn(file, [conf, ...args], { cwd: folder, stdio: ['ignore', log.fd, log.fd] })
    // Also when the tests end with an error, so that no engine keeps running.
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    return child
  }
  let child = await start(build, [`dir ${folder}`, ...lines])
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const ended = async () => {
    if (!hasEnded()) await once(child, 'exit')
  }
  return {
    folder,
    get child() {
      return child
    },
    get hasEnded() {
      return hasEnded()
    },
    ended,
    async startAgain(next, others) {
      child = await start(next, others && [`dir ${folder}`, ...others])
    },
    log: () => readFile(join(folder, 'log'), 'utf8'),
    async [Symbol.asyncDispose]() {
      const end = ended()
      child.kill('SIGKILL')
      await end
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
