import { once } from 'node:events'
import { availableParallelism, loadavg } from 'node:os'
import { Worker } from 'node:worker_threads'

/** How long answers took, in milliseconds, and how many there were. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly answers: number
}

/** A client in a thread of its own, so that this thread's work does not delay it. */
export interface Neighbour extends AsyncDisposable {
  /** Its answer times while `act` runs. */
  during(act: () => Promise<unknown>): Promise<Latency>
}

/**
 * A client of the endpoint at `port`, which asks PING every 2 ms, whether the one before is answered or not.
 */
export async function moveIn(port: number): Promise<Neighbour> {
  const thread = new Worker(new URL('./neighbour-thread.ts', import.meta.url), { workerData: { port } })
  const next = async <T>(message: 'begin' | 'end'): Promise<T> => {
    thread.postMessage(message)
    const [answer] = await once(thread, 'message')
    return answer as T
  }
  return {
    async during(act) {
      await next('begin')
      await act()
      return next<Latency>('end')
    },
    async [Symbol.asyncDispose]() {
      await thread.terminate()
    },
  }
}

/**
 * The permitted p99 of a neighbour while others work, in milliseconds; it depends on its p99 while they do
 * nothing. If more processes want to run than there are processors, a busy proxy waits for a processor, so it
 * depends on their number, too.
 */
export function mostFelt(calm: Latency): number {
  const [load = 0] = loadavg()
  return Math.max(50, 5 * calm.p99) * Math.max(1, load / availableParallelism())
}
