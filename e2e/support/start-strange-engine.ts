import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Redis } from 'ioredis'
import { build } from '../../proof/engine-pairs.ts'
import { enginesFolder } from '../../proof/engines-folder.ts'
import { until } from '../../proof/until.ts'

/** Another local user, where tests run as root. */
const NOBODY = 65_534
const PASSWORD = 'strange-password'

/** An engine in cluster mode that belongs to no database. */
export interface StrangeEngine extends Disposable {
  readonly port: number
  call(command: string, ...args: readonly (string | number)[]): Promise<unknown>
  /** Kills it. */
  [Symbol.dispose](): void
}

/**
 * `args` go to the engine. It runs as another user where that is possible, and knows no password but its own.
 */
export async function startStrangeEngine(port: number, args: readonly string[] = []): Promise<StrangeEngine> {
  using owned = new DisposableStack()
  const name = build('valkey', '8.1')
  const folder = mkdtempSync(join(tmpdir(), 'stranger-'))
  owned.defer(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(enginesFolder(), name, 'bin', 'valkey-server')
  const mayBeNobody = process.getuid?.() === 0 && isOpen(program)
  if (mayBeNobody) chownSync(folder, NOBODY, NOBODY)
  const config = ['--port', String(port), '--bind', '127.0.0.1', '--requirepass', PASSWORD, '--save', '']
  const atOnce = ['--repl-diskless-sync-delay', '0', '--cluster-node-timeout', '1000']
  const child = spawn(program, [...config, ...atOnce, '--cluster-enabled', 'yes', ...args], {
    cwd: folder,
    stdio: 'ignore',
    ...(mayBeNobody && { uid: NOBODY, gid: NOBODY }),
  })
  owned.defer(() => void child.kill('SIGKILL'))
  // Fairlead's own connections refuse processes of another user.
  const client = new Redis({
    host: '127.0.0.1',
    port,
    password: PASSWORD,
    enableReadyCheck: false,
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
  })
  client.on('error', () => undefined) // the engine does not listen yet, or has ended
  owned.defer(() => client.disconnect())
  await until('the stranger answers', async () => {
    if (child.exitCode !== null) throw new Error(`the stranger has ended with code ${child.exitCode}`)
    return client.status === 'ready' && (await client.ping()) === 'PONG'
  })
  const kept = owned.move()
  return {
    port,
    call: (command, ...args) => client.call(command, ...args.map(String)),
    [Symbol.dispose]: () => kept.dispose(),
  }
}

/** Whether every user may pass through all folders to it. */
function isOpen(path: string): boolean {
  if ((statSync(path).mode & 0o001) === 0) return false
  return path === dirname(path) || isOpen(dirname(path))
}
