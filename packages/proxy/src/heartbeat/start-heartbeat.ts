import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Log } from '../listen/cut-log.ts'
import type { HeartbeatStart } from './heartbeat.ts'

/**
 * Starts the heartbeat thread, which answers at `socketPath` for the loops that write to `breadcrumbs`.
 * Without it the proxy works as well, and its agent judges the activity of the process. Dispose to end.
 */
export function startHeartbeat(start: HeartbeatStart, log: Log): AsyncDisposable {
  const thread = new Worker(fileURLToPath(import.meta.resolve('@fairlead/proxy/heartbeat')), {
    workerData: start,
  })
  thread.on('error', (cause) => log('the heartbeat has ended', { why: String(cause) }))
  thread.unref()
  return {
    async [Symbol.asyncDispose]() {
      await thread.terminate()
    },
  }
}
