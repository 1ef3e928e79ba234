import { type ChildProcess, spawn } from 'node:child_process'
import { codeOf } from '@fairlead/engine'

/** Output of a program, and how it ended. */
export interface ProgramEnd {
  /** Null if a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** True if it was killed at its deadline. */
  readonly late: boolean
}

/** More than any program here prints (a package list's dependencies: 0.1 MB); the rest is dropped. */
const maxOutputCharacters = 4_000_000

/**
 * Runs a program without a shell or input, and resolves after its exit. Its process group is killed after
 * `deadlineMs` or on abort, because apt works through children. Throws spawn's error if it cannot be started
 * (`code` ENOENT, EACCES, …), and the signal's reason on abort.
 */
export async function runProgram(options: {
  readonly program: string
  readonly args: readonly string[]
  readonly deadlineMs: number
  readonly cwd?: string
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Additional variables. */
  readonly setting?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}): Promise<ProgramEnd> {
  const { program, args, deadlineMs, cwd = '/', env, setting, signal } = options
  signal?.throwIfAborted()
  // env(1) extends an environment that we need not read: only config.ts does.
  const settings = Object.entries(setting ?? {}).map(([name, value]) => `${name}=${value}`)
  const [first, ...rest] = setting ? (['env', ...settings, program, ...args] as const) : [program, ...args]
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  const child = spawn(first, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  // First, because without a free file the child has no streams and emits only this event.
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

/** `stream` is undefined if the child could not be started. */
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
    // The group has just ended.
    if (codeOf(cause) !== 'ESRCH') throw cause
  }
  // A descendant that left the group may still hold the pipes; we do not wait for it.
  child.stdout?.destroy()
  child.stderr?.destroy()
}
