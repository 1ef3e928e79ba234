import { type ChildProcess, spawn } from 'node:child_process'
import { codeOf } from '@fairlead/engine'

/** What a program said and how it ended. */
export interface ProgramEnd {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** It was killed because its deadline had passed. */
  readonly late: boolean
}

/** More than any program here says (a package list's dependencies: 0.1 MB); what comes beyond is dropped. */
const maxOutputCharacters = 4_000_000

/**
 * Runs a program to its end, without a shell and without input. It gets a process group of its own, which is killed
 * whole after `deadlineMs` or on abort: apt works through children. Resolves once the program is gone.
 *
 * Throws what spawn throws when it cannot be started (`code` ENOENT, EACCES, …), and the signal's reason on abort.
 */
export async function runProgram(options: {
  readonly program: string
  readonly args: readonly string[]
  readonly deadlineMs: number
  readonly cwd?: string
  /** Default: what this process was started with. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Variables that are set in addition. */
  readonly setting?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}): Promise<ProgramEnd> {
  const { program, args, deadlineMs, cwd = '/', env, setting, signal } = options
  signal?.throwIfAborted()
  // env(1) adds to an environment that we need not read for that: config.ts alone does.
  const settings = Object.entries(setting ?? {}).map(([name, value]) => `${name}=${value}`)
  const [first, ...rest] = setting ? (['env', ...settings, program, ...args] as const) : [program, ...args]
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  const child = spawn(first, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  // Before anything else: where no file is left, the child has no streams, and only this event tells.
  child.on('error', reject)
  child.once('close', resolve)
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  let late = false
  const timer = setTimeout(() => {
    late = true
    kill(child)
  }, deadlineMs)
  const abort = () => kill(child)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const code = await promise
    signal?.throwIfAborted()
    return { code, stdout: stdout(), stderr: stderr(), late }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** `stream`: undefined of a child that cannot be started. */
function collect(stream: NodeJS.ReadableStream | undefined): () => string {
  let text = ''
  stream?.setEncoding('utf8')
  stream?.on('data', (chunk: string) => {
    if (text.length < maxOutputCharacters) text += chunk
  })
  return () => text
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (cause) {
    // The group ended by itself in this very moment.
    if (codeOf(cause) !== 'ESRCH') throw cause
  }
  // A descendant that left the group may still hold the pipes; it must not keep us waiting.
  child.stdout?.destroy()
  child.stderr?.destroy()
}
