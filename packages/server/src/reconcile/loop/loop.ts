import type { Logger } from 'pino'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import type { Cause } from '../turn/turn-memory.ts'
import type { Turn } from './reconcile-database.ts'
import { createSafetyNet, REST_MS } from './safety-net.ts'
import { createSlots, firstOf, type Load, type Queue } from './slots.ts'

/** The turns of all databases. Dispose to end the running ones and wait for them. */
export interface Loop extends AsyncDisposable {
  /** Takes a turn now, or when its queue allows. Default: the queue of changes. */
  nudge(databaseUid: number, queue?: Queue): void
  /** True if the database has a turn now, or will have one. */
  knows(databaseUid: number): boolean
  /** Returns the present load. */
  load(): Load
}

/** After trouble: retries after 100 ms, doubled each time up to 10 s. */
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 10_000
/** Concurrent turns over all databases: they mostly wait for engines. */
export const AT_ONCE = 32
/** Limit of each queue, so that none blocks another. Handovers never wait for a slot. */
const OF_QUEUE: Readonly<Record<Queue, number>> = {
  handover: Number.POSITIVE_INFINITY,
  action: 28,
  watch: 24,
}

interface LoopDeps {
  readonly turn: (databaseUid: number, signal: AbortSignal, cause: Cause) => Promise<Turn>
  /** Called after each failed turn. */
  readonly trouble: (databaseUid: number, cause: unknown, timesInARow: number) => Promise<void>
  readonly log: Logger
}

/**
 * Takes turns for each database, one at a time, and at most AT_ONCE in total, until disposed of. A nudge
 * within a turn causes another one right after it, so that no change is overlooked.
 */
export function startLoop(deps: LoopDeps): Loop {
  const stop = new AbortController()
  const entries = new Map<number, Entry>()
  const running = new Set<Promise<void>>()
  const slots = createSlots(AT_ONCE, OF_QUEUE)
  const net = createSafetyNet((uid) => schedule(uid, { afterMs: 0, queue: 'watch', cause: 'time' }))

  const schedule = (uid: number, { afterMs, queue, cause }: NextTurn) => {
    const entry = entries.get(uid) ?? newEntry()
    entries.set(uid, entry)
    clearTimeout(entry.timer)
    net.remove(uid)
    Object.assign(entry, { next: queue, cause } satisfies Partial<Entry>)
    if (stop.signal.aborted) return
    // One timer is enough for thousands of databases at rest. Upkeep postponed for that long has no deadline:
    // a later look does it.
    if (afterMs >= REST_MS) net.add(uid)
    else entry.timer = setTimeout(() => ask(uid, entry, queue), afterMs)
  }

  const ask = (uid: number, entry: Entry, queue: Queue) => {
    if (entry.state === 'running') entry.nudged = firstOf(entry.nudged, queue)
    else slots.ask(uid, queue)
    fill()
  }

  const fill = () => {
    for (let next = slots.take(); next !== undefined; next = slots.take()) begin(next.uid, next.queue)
  }

  const begin = (uid: number, queue: Queue) => {
    const entry = entries.get(uid)
    if (entry === undefined || stop.signal.aborted) return slots.free(queue)
    Object.assign(entry, { state: 'running', timer: undefined, next: undefined } satisfies Partial<Entry>)
    const turn = take(uid, entry).finally(() => {
      running.delete(turn)
      slots.free(queue)
      fill()
    })
    running.add(turn)
  }

  const take = async (uid: number, entry: Entry) => {
    const next = await nextTurn(uid, entry, deps, stop.signal)
    const { nudged } = entry
    entry.state = 'idle'
    entry.nudged = undefined
    const queue = nudged && firstOf(nudged, next?.queue ?? nudged)
    if (queue !== undefined) schedule(uid, { afterMs: 0, queue, cause: 'change' })
    else if (next === undefined) entries.delete(uid)
    else schedule(uid, next)
  }

  return {
    nudge(uid, queue = 'action') {
      const entry = entries.get(uid)
      // Not by a timer: the turn may end first.
      if (entry?.state === 'running') entry.nudged = firstOf(entry.nudged, queue)
      // A database that is about to hand over keeps its place.
      else schedule(uid, { afterMs: 0, queue: firstOf(entry?.next, queue), cause: 'change' })
    },
    knows: (uid: number) => entries.has(uid),
    load: slots.load,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the server stops'))
      net[Symbol.dispose]()
      for (const { timer } of entries.values()) clearTimeout(timer)
      await Promise.allSettled(running)
    },
  }
}

interface NextTurn {
  readonly afterMs: number
  readonly queue: Queue
  readonly cause: Cause
}

/** Takes one turn. Returns when the next turn comes; undefined if the database is gone. Never rejects. */
async function nextTurn(
  uid: number,
  entry: Entry,
  { turn: takeTurn, trouble, log }: LoopDeps,
  stop: AbortSignal,
): Promise<NextTurn | undefined> {
  try {
    const turn = await takeTurn(uid, stop, entry.cause)
    entry.failures = 0
    if (turn.next === 'gone') return undefined
    if (turn.next === 'watch') return { afterMs: turn.dueMs, queue: 'watch', cause: 'time' }
    return { afterMs: turn.afterMs, queue: turn.handsOver ? 'handover' : 'action', cause: 'change' }
  } catch (cause) {
    if (stop.aborted) return undefined
    entry.failures += 1
    log.warn(describeTrouble(cause, uid, entry.failures), 'a turn failed and is tried again')
    await trouble(uid, cause, entry.failures).catch((again: unknown) => {
      log.error({ database: uid, err: again }, 'the reason of a failed turn could not be recorded')
    })
    const afterMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (entry.failures - 1))
    return { afterMs, queue: 'action', cause: 'change' }
  }
}

/** If an agent is away, the turns of all its databases fail: the reason suffices, without a stack trace. */
function describeTrouble(cause: unknown, database: number, timesInARow: number): object {
  const what = cause instanceof AgentUnreachable ? { why: cause.message } : { err: cause }
  return { database, ...what, timesInARow }
}

interface Entry {
  state: 'idle' | 'running'
  /** Set while its turn runs if another one should follow. */
  nudged: Queue | undefined
  /** Queue of its next turn. */
  next: Queue | undefined
  /** Reason for the next or the running turn. */
  cause: Cause
  failures: number
  timer: NodeJS.Timeout | undefined
}

function newEntry(): Entry {
  return { state: 'idle', nudged: undefined, next: undefined, cause: 'change', failures: 0, timer: undefined }
}
