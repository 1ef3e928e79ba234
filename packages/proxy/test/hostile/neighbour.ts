import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** The observations of a neighbour since they were read last. */
export interface Seen {
  readonly answers: number
  /** In milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly most: number
  /** An answer that was not its own, or the end of its connection; empty when all was well. */
  readonly wrong: string
}

export interface Neighbour extends AsyncDisposable {
  look(): Promise<Seen>
}

/** A client of the database at `port`, in a thread of its own, that asks one question after the other. */
export async function startNeighbour(port: number, password: string): Promise<Neighbour> {
  const thread = new Worker(new URL('neighbour-thread.ts', import.meta.url), {
    workerData: { port, password },
    execArgv: [],
  })
  await once(thread, 'online')
  return {
    async look() {
      const answer = once(thread, 'message')
      thread.postMessage('look')
      const [{ tookMs, wrong }] = (await answer) as [{ readonly tookMs: number[]; readonly wrong: string }]
      const sorted = tookMs.toSorted((a, b) => a - b)
      const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
      return { answers: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1), wrong }
    },
    async [Symbol.asyncDispose]() {
      await thread.terminate()
    },
  }
}
