import type { Logger } from 'pino'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import type { Turn } from './reconcile-database.ts'

/** The turns of all databases. Disposed of, it ends those that run and waits for them. */
export interface Loop extends AsyncDisposable {
  /** Look at this database now. */
  nudge(databaseUid: number): void
}

/** A database that nobody changes is looked at this often, for the sake of its shards. */
const WATCH_EVERY_MS = 1_000
/** Trouble: tried again after 100 ms, then twice as long each time, at most 10 s. */
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 10_000
/** Turns at once, over all databases: they wait for engines most of the time. */
const AT_ONCE = 8

interface LoopDeps {
  readonly turn: (databaseUid: number, signal: AbortSignal) => Promise<Turn>
  /** Told of each failed turn. */
  readonly trouble: (databaseUid: number, cause: unknown, timesInARow: number) => Promise<void>
  readonly log: Logger
}

/**
 * Turns for each database, one at a time for each, at most AT_ONCE at once, until it is disposed of. A nudge in the
 * middle of a turn brings another one right after it: a change is never overlooked.
 */
export function startLoop(deps: LoopDeps): Loop {
  const stop = new AbortController()
  const entries = new Map<number, Entry>()
  const running = new Set<Promise<void>>()
  const waiting: number[] = []

  const schedule = (uid: number, afterMs: number) => {
    const entry = entries.get(uid) ?? { state: 'idle', failures: 0, timer: undefined }
    entries.set(uid, entry)
    clearTimeout(entry.timer)
    if (stop.signal.aborted) return
    entry.timer = setTimeout(() => begin(uid), afterMs)
  }

  const begin = (uid: number) => {
    const entry = entries.get(uid)
    if (entry === undefined || stop.signal.aborted) return
    if (entry.state !== 'idle') {
      entry.state = 'again'
      return
    }
    if (running.size >= AT_ONCE) {
      if (!waiting.includes(uid)) waiting.push(uid)
      return
    }
    entry.state = 'running'
    const turn = take(uid, entry).finally(() => {
      running.delete(turn)
      const next = waiting.shift()
      if (next !== undefined) begin(next)
    })
    running.add(turn)
  }

  const take = async (uid: number, entry: Entry) => {
    const afterMs = await pauseAfter(uid, entry, deps, stop.signal)
    const nudged = entry.state === 'again'
    entry.state = 'idle'
    if (afterMs === undefined) entries.delete(uid)
    else schedule(uid, nudged ? 0 : afterMs)
  }

  return {
    nudge: (uid) => schedule(uid, 0),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the server stops'))
      for (const { timer } of entries.values()) clearTimeout(timer)
      await Promise.allSettled(running)
    },
  }
}

/** Takes one turn. Answers how long to wait before the next one; undefined when the database is gone. Never rejects. */
async function pauseAfter(
  uid: number,
  entry: Entry,
  { turn: takeTurn, trouble, log }: LoopDeps,
  stop: AbortSignal,
): Promise<number | undefined> {
  try {
    const turn = await takeTurn(uid, stop)
    entry.failures = 0
    if (turn.next === 'gone') return undefined
    return turn.next === 'watch' ? WATCH_EVERY_MS : turn.afterMs
  } catch (cause) {
    if (stop.aborted) return undefined
    entry.failures += 1
    log.warn(describeTrouble(cause, uid, entry.failures), 'a turn met trouble')
    await trouble(uid, cause, entry.failures).catch((again: unknown) => {
      log.error({ database: uid, err: again }, 'trouble could not be noted')
    })
    return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (entry.failures - 1))
  }
}

/** An agent that is away is met by every database: its reason says all, and no stack is needed. */
function describeTrouble(cause: unknown, database: number, timesInARow: number): object {
  const what = cause instanceof AgentUnreachable ? { why: cause.message } : { err: cause }
  return { database, ...what, timesInARow }
}

interface Entry {
  /** `again`: nudged while its turn runs. */
  state: 'idle' | 'running' | 'again'
  failures: number
  timer: NodeJS.Timeout | undefined
}
