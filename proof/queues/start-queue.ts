import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Login } from '../clients/clients.ts'
import { until } from '../until.ts'
import { type JobQueue, queueEnvironment } from './queues.ts'

/** A queue at work. Dispose to end its programs. */
export interface RunningQueue extends AsyncDisposable {
  /** Jobs done until now. */
  done(): number
  /** What the programs have reported until now. */
  trouble(): string
  /** Ends the producer, and waits until as many jobs are done as were accepted. */
  finish(): Promise<QueueFindings>
}

export interface QueueFindings {
  readonly accepted: number
  /** Accepted jobs that were not done, and jobs that were done more than once. */
  readonly lost: readonly number[]
  readonly repeated: readonly number[]
  /** What the programs reported on stderr; how a program ended that should not have. */
  readonly trouble: string
}

const ALL_DONE_MS = 60_000

/** Starts the worker of a queue, and its producer. */
export async function startQueue(
  queue: JobQueue,
  { host, port, password }: Pick<Login, 'host' | 'port' | 'password'>,
): Promise<RunningQueue> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-queue-'))
  const effects = join(folder, 'effects')
  const env = {
    ...queueEnvironment(),
    HOST: host,
    PORT: String(port),
    PASSWORD: password,
    EFFECTS: effects,
    HOME: folder,
  }
  let trouble = ''
  let isOver = false
  const start = ([program = '', ...args]: readonly string[]): ChildProcess => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
    child.stderr?.on('data', (chunk: Buffer) => {
      trouble += String(chunk)
    })
    child.on('error', (cause) => {
      trouble += String(cause)
    })
    child.on('exit', (code, signal) => {
      if (!isOver && code !== 0) trouble += `${program} ended: ${code ?? signal}\n`
    })
    return child
  }
  const worker = start(queue.work)
  const producer = start(queue.produce)
  let output = ''
  producer.stdout?.on('data', (chunk: Buffer) => {
    output += String(chunk)
  })
  const done = () => (existsSync(effects) ? numbersIn(readFileSync(effects, 'utf8')) : [])
  return {
    done: () => done().length,
    trouble: () => trouble,
    async finish() {
      const ended = once(producer, 'exit')
      producer.stdin?.end()
      await ended
      const accepted = numbersIn(output)
      const areDone = () => accepted.every((n) => new Set(done()).has(n))
      await until('all jobs are done', async () => areDone(), { withinMs: ALL_DONE_MS }).catch(() => null)
      const found = done()
      const all = new Set(found)
      return {
        accepted: accepted.length,
        lost: accepted.filter((n) => !all.has(n)),
        repeated: [...all].filter((n) => found.filter((each) => each === n).length > 1),
        trouble,
      }
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      for (const child of [producer, worker]) await end(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function numbersIn(text: string): number[] {
  return text
    .split('\n')
    .filter((line) => /^\d+$/.test(line))
    .map(Number)
}

/** A worker ends its own processes at SIGTERM. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(late)
}
