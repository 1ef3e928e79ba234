import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createAckedWatch } from './acked-watch.ts'
import type { News, Questions } from './questions.ts'

/** The load's process, as the caller's process sees it. */
export interface LoadProcess extends AsyncDisposable {
  readonly pid: number
  /**
   * Asks a question and waits for the answer. Throws the error of the process, and also when the process ends
   * or is late.
   */
  ask<Name extends keyof Questions>(
    name: Name,
    ask: Questions[Name]['ask'],
    withinMs: number,
  ): Promise<Questions[Name]['answer']>
  acked(): number
  perSecond(): number
  untilAcked(count: number, withinMs: number, signal?: AbortSignal): Promise<void>
}

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (cause: Error) => void
}

const END_WITHIN_MS = 2_000
const LAST_WORDS = 2_000

export function openLoadProcess(): LoadProcess {
  const child = fork(new URL('./load-main.ts', import.meta.url), {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  const waiting = new Map<number, Waiting>()
  const watch = createAckedWatch()
  const lastWords = keepLastWords(child)
  let ended: Error | null = null
  let asked = 0

  child.on('message', (news: News) => {
    if (news.kind === 'acked') return watch.saw(news.acked, performance.now())
    const asker = waiting.get(news.id)
    waiting.delete(news.id)
    if (news.kind === 'answer') asker?.resolve(news.answer)
    else asker?.reject(new Error(news.message))
  })
  const end = (why: string) => {
    ended ??= new Error(`the load's process has ended (${why}), and its ledger with it${lastWords()}`)
    watch.end(ended)
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
  }
  child.on('error', (cause) => end(cause.message))
  child.on('close', (code, signal) => end(signal ?? `exit code ${code}`))

  const ask: LoadProcess['ask'] = async (name, question, withinMs) => {
    if (ended) throw ended
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    asked += 1
    const id = asked
    waiting.set(id, { resolve, reject })
    const late = setTimeout(
      () => reject(new Error(`the load's process did not answer '${name}' within ${withinMs} ms`)),
      withinMs,
    )
    child.send({ id, name, ask: question }, (cause) => cause && reject(cause))
    try {
      // load-main.ts answers each name with its own type: both sides are typed by questions.ts.
      return (await promise) as Questions[typeof name]['answer']
    } finally {
      clearTimeout(late)
      waiting.delete(id)
    }
  }
  return {
    pid: child.pid ?? 0,
    ask,
    acked: watch.acked,
    perSecond: () => watch.perSecond(performance.now()),
    untilAcked: watch.until,
    [Symbol.asyncDispose]: () => endProcess(child),
  }
}

/** The last lines that the process wrote to stderr: they may name the reason of its end. */
function keepLastWords(child: ChildProcess): () => string {
  let words = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    words = (words + part).slice(-LAST_WORDS)
  })
  return () => (words === '' ? '' : `: ${words.trim()}`)
}

/** It ends by itself when its parent has disconnected; if it does not, it is killed. */
async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  if (child.connected) child.disconnect()
  const late = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS)
  await exited
  clearTimeout(late)
}
