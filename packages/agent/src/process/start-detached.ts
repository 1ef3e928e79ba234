import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { codeOf } from '@fairlead/engine'
import { openPlainFile } from './open-plain-file.ts'
import { identifyProcess } from './process-identity.ts'
import type { StartedProcess } from './started-process.ts'

/** Renames a long log. Returns the position of the next process's first log line, in bytes. */
export async function prepareLog(path: string): Promise<number> {
  await using log = await openPlainFile(path, TO_APPEND)
  const { size } = await log.stat()
  if (size <= MAX_LOG_BYTES) return size
  await rename(path, `${path}.1`)
  return 0
}

/** Starts a program that outlives the agent, with output to the file `log`. Throws if it cannot be run. */
export async function startDetached(options: {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly log: string
  /** In addition to PATH. */
  readonly env?: Readonly<Record<string, string>>
}): Promise<StartedProcess> {
  const { program, args, cwd, env } = options
  await using log = await openPlainFile(options.log, TO_APPEND)
  const child = spawn(program, args, {
    cwd,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    // Not the agent's environment, which may hold secrets.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env },
  })
  child.unref()
  const ended = readEnd(child)
  await once(child, 'spawn').catch(async (cause: unknown) => {
    throw new Error(await explainSpawnError(program, cause), { cause })
  })
  // A process that is already gone is found dead at the next look; no later identity can match this one.
  const identity = identifyProcess(child.pid ?? 0) ?? { pid: child.pid ?? 0, startTime: 'gone', bootId: '' }
  return { identity, ended }
}

/** A longer log is renamed at the next start; one older log is kept. */
const MAX_LOG_BYTES = 10 * 1024 * 1024

const TO_APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT

function readEnd(child: ChildProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
  return promise
}

async function explainSpawnError(program: string, cause: unknown): Promise<string> {
  const code = codeOf(cause)
  if (code === 'EACCES') return `${program} is not executable; make it so (chmod +x)`
  // ENOENT means a missing program, or a missing interpreter of an existing script.
  const there = await stat(program).then(
    () => true,
    () => false,
  )
  if (code === 'ENOENT')
    return `${program} ${there ? 'cannot be run: its interpreter is missing' : 'is missing'}`
  return `${program} cannot be run: ${code ?? String(cause)}`
}
