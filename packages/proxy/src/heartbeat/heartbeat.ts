import { chmodSync, rmSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { BroadcastChannel, workerData } from 'node:worker_threads'
import type { LoopTurns, ProxyTurns } from '@fairlead/api/of-proxies'
import { TURNS_CHANNEL } from './answer-turns.ts'
import { countLoops, readBreadcrumb } from './breadcrumb.ts'
import { readThreadUse } from './read-thread-use.ts'
import { watchLoop } from './watch-loop.ts'

/**
 * The heartbeat thread. It reports the state of the proxy's loops, even stuck ones, to each client of its
 * socket and to the log. It does no other work, so it answers unless the whole process is stopped or starved.
 */

/** Options: the memory that loops write to, and the socket path. */
export interface HeartbeatStart {
  readonly breadcrumbs: SharedArrayBuffer
  readonly socketPath: string
}

const LOOK_EVERY_MS = 500
/** A turn of this length is logged, and again at each doubling. */
const LONG_MS = 1_000
/** Logs directly to standard error: through the main thread a line would wait for that thread. */
const LOG_FILE = 2

const { breadcrumbs, socketPath } = workerData as HeartbeatStart
const channel = new BroadcastChannel(TURNS_CHANNEL)
const loops = Array.from({ length: countLoops(breadcrumbs) }, (_, n) => {
  const name = n === 0 ? 'main' : `worker ${n}`
  return { n, watch: watchLoop(name), reportAtMs: LONG_MS, last: null as LoopTurns | null }
})

function look(): readonly LoopTurns[] {
  const now = performance.now()
  return loops.flatMap((loop) => {
    const crumb = readBreadcrumb(breadcrumbs, loop.n)
    if (crumb.thread === 0) return []
    const seen = loop.watch.look(crumb, now, () => readThreadUse(crumb.thread))
    const isNew = loop.last?.turns !== seen.turns
    if (isNew && loop.last !== null && loop.reportAtMs > LONG_MS) tell('a long turn has ended', loop.last)
    if (isNew) loop.reportAtMs = LONG_MS
    if (seen.turnMs >= loop.reportAtMs) {
      tell('a turn is long', seen)
      while (loop.reportAtMs <= seen.turnMs) loop.reportAtMs *= 2
    }
    loop.last = seen
    return [seen]
  })
}

function tell(what: string, { loop, turnMs, cpuMs, doing }: LoopTurns): void {
  const line = JSON.stringify({ at: new Date().toISOString(), what, loop, ms: turnMs, cpuMs, doing })
  try {
    writeSync(LOG_FILE, `${line}\n`)
  } catch {
    // The disk is full or the log is not read: the agent still gets the report.
  }
}

setInterval(() => {
  look()
  channel.postMessage(null)
}, LOOK_EVERY_MS)

// No other proxy uses this home (hold-home.ts), so a socket file there is stale.
rmSync(socketPath, { force: true })
const server = createServer((socket) => {
  socket.on('error', () => socket.destroy())
  socket.end(JSON.stringify({ pid: process.pid, loops: [...look()] } satisfies ProxyTurns))
})
server.listen(socketPath, () => {
  chmodSync(socketPath, 0o600)
  // A connection that cannot be accepted, for lack of files or memory, does not end the heartbeat.
  server.on('error', () => undefined)
})
