import type { CheckedLoadOptions } from './check-load-options.ts'
import { type CounterTrail, createCounterTrail } from './counter-trail.ts'
import { createPrimaryRoute } from './follow-primary.ts'
import { createGaps, type Gap, type Gaps } from './gaps.ts'
import { createLedgerBook, type LedgerBook, type OutcomeCounts } from './ledger-book.ts'
import { createLedgerWrites, type LedgerWrites } from './ledger-writes.ts'
import { type LoadConnection, type LoadEvents, openLoadConnection } from './load-connection.ts'
import type { PrimaryLookup } from './lookup-primary.ts'
import { createPace, type Pace } from './pace.ts'
import { nowUnixMs } from './unix-clock.ts'

/** What a load did, until it was stopped. */
export interface LedgerReport extends OutcomeCounts {
  /** How often each trouble was met: READONLY, closed, ECONNREFUSED, no-answer, lookup, … */
  readonly errors: Readonly<Record<string, number>>
  /** The last lookup that failed, in words; null when none did. */
  readonly lookupTrouble: string | null
  readonly reconnects: number
  /** Every time of 3 ms or more without any acknowledged write. At a pace below 1,000/s these are the pace itself. */
  readonly gaps: readonly Gap[]
  /** From the first command until the stop was asked for. */
  readonly seconds: number
  /** `incr`: answers that jumped or repeated themselves. */
  readonly jumps: number
}

/** What must be found afterwards. */
export interface Ledger {
  readonly connections: number
  readonly book: LedgerBook
  readonly writes: LedgerWrites
  /** One per connection; only `incr` has them. */
  readonly trails: readonly CounterTrail[]
}

export interface RunningLoad {
  readonly ledger: Ledger
  acked(): number
  longestGapMs(window: Gap): number
  /** Issues nothing more, waits for what is outstanding (at most `replyWithinMs`), and reports. */
  stop(): Promise<LedgerReport>
}

const START_WITHIN_MS = 5_000
const TICK_MS = 1

/** Connects every client to the primary and starts to write. Throws when not all of them could log in. */
export async function runLoad(options: CheckedLoadOptions, lookup: PrimaryLookup): Promise<RunningLoad> {
  const state = createState(options)
  const first = await lookup.ask()
  const route = createPrimaryRoute({ first, lookUp: lookup.ask, onFailure: state.lookupFailed })
  const settled = Promise.withResolvers<void>()
  const events = createEvents(state, options, () => settled.resolve())
  const late = setTimeout(() => settled.resolve(), START_WITHIN_MS)
  for (let number = 0; number < options.connections; number += 1)
    state.connections.push(openLoadConnection({ number, password: options.password, route, events }))
  await settled.promise
  clearTimeout(late)

  if (state.connections.some((connection) => connection.state !== 'idle')) {
    for (const connection of state.connections) connection.close()
    const { host, port } = route.current()
    throw new Error(
      `not all of ${options.connections} clients could log in at ${host}:${port}: ${spell(state.errors)}; check the password and the engine's maxclients`,
    )
  }
  return begin(state, options)
}

interface LoadState {
  readonly ledger: Ledger
  readonly connections: LoadConnection[]
  readonly errors: Record<string, number>
  readonly lookupFailed: (cause: unknown) => void
  lookupTrouble: string | null
  connects: number
  acked: number
  jumps: number
  /** Null until all are connected. */
  pace: Pace | null
  gaps: Gaps | null
  /** The last tick found nobody idle for what was due: an answer is followed by the next command at once. */
  behind: boolean
}

function createState(options: CheckedLoadOptions): LoadState {
  const { connections, kind } = options
  const state: LoadState = {
    ledger: {
      connections,
      book: createLedgerBook(connections),
      writes: createLedgerWrites(options),
      trails: kind === 'incr' ? Array.from({ length: connections }, createCounterTrail) : [],
    },
    connections: [],
    errors: {},
    lookupFailed(cause) {
      state.lookupTrouble = cause instanceof Error ? cause.message : String(cause)
      count(state, 'lookup')
    },
    lookupTrouble: null,
    connects: 0,
    acked: 0,
    jumps: 0,
    pace: null,
    gaps: null,
    behind: false,
  }
  return state
}

/** `onSettled` is called when every connection has come up, or none ever will; until then nothing is issued. */
function createEvents(state: LoadState, options: CheckedLoadOptions, onSettled: () => void): LoadEvents {
  const { book, writes, trails } = state.ledger
  return {
    command: (number) => writes.command(number, book.nextNumber(number)),
    acknowledges(number, reply) {
      const trail = trails[number]
      if (trail ? reply.kind !== 'integer' : reply.kind !== 'status' || reply.text !== 'OK') return false
      book.note(number, 'acked')
      state.acked += 1
      state.gaps?.acked(nowUnixMs())
      if (trail && reply.kind === 'integer' && !trail.acked(reply.value)) state.jumps += 1
      return true
    },
    refused(number, why) {
      book.note(number, 'refused')
      count(state, why)
      state.pace?.giveBack()
    },
    unknown(number, why) {
      book.note(number, 'unknown')
      trails[number]?.unknown()
      count(state, why)
    },
    broken(_, why) {
      count(state, why)
      if (!state.pace && why === 'WRONGPASS') onSettled()
    },
    connecting() {
      state.connects += 1
    },
    idle(connection) {
      if (state.behind && state.pace) issueIfDue(connection, state.pace)
      if (state.pace || state.connections.length < options.connections) return
      if (state.connections.every(({ state: now }) => now === 'idle')) onSettled()
    },
  }
}

function begin(state: LoadState, options: CheckedLoadOptions): RunningLoad {
  const startMs = nowUnixMs()
  let endMs = Number.POSITIVE_INFINITY
  const pace = createPace(options.perSecond, performance.now())
  const gaps = createGaps(startMs)
  state.pace = pace
  state.gaps = gaps
  const ticks = setInterval(createTick(state, pace), TICK_MS)
  const sweep = setInterval(giveUpLate, Math.max(5, Math.min(250, options.replyWithinMs / 4)))

  return {
    ledger: state.ledger,
    acked: () => state.acked,
    longestGapMs(window) {
      if (window.toMs < startMs || window.fromMs > endMs)
        throw new Error('the load did not run in that window')
      return gaps.longestMs(window, nowUnixMs())
    },
    async stop() {
      endMs = nowUnixMs()
      clearInterval(ticks)
      state.behind = false
      while (state.connections.some((connection) => connection.state === 'busy')) await nextTurn()
      clearInterval(sweep)
      gaps.end(endMs)
      for (const connection of state.connections) connection.close()
      return report(state, gaps, (endMs - startMs) / 1000)
    },
  }

  function giveUpLate(): void {
    const sentBeforeMs = performance.now() - options.replyWithinMs
    for (const connection of state.connections) connection.giveUp(sentBeforeMs)
  }
}

/** Hands what is due to idle connections, going round so that all of them take part. */
function createTick(state: LoadState, pace: Pace): () => void {
  const { connections } = state
  let turn = 0
  return () => {
    const nowMs = performance.now()
    let due = pace.due(nowMs)
    for (let seen = 0; seen < connections.length && due > 0; seen += 1) {
      const connection = connections[turn % connections.length]
      turn += 1
      if (connection?.state !== 'idle') continue
      pace.take()
      due -= 1
      connection.issue(nowMs)
    }
    state.behind = due > 0
  }
}

function issueIfDue(connection: LoadConnection, pace: Pace): void {
  const nowMs = performance.now()
  if (pace.due(nowMs) < 1) return
  pace.take()
  connection.issue(nowMs)
}

function report(state: LoadState, gaps: Gaps, seconds: number): LedgerReport {
  return {
    ...state.ledger.book.counts(),
    errors: { ...state.errors },
    lookupTrouble: state.lookupTrouble,
    reconnects: state.connects - state.connections.length,
    gaps: gaps.list(),
    seconds,
    jumps: state.jumps,
  }
}

function count(state: LoadState, why: string): void {
  state.errors[why] = (state.errors[why] ?? 0) + 1
}

function spell(errors: Readonly<Record<string, number>>): string {
  const words = Object.entries(errors).map(([why, times]) => `${why} ${times}×`)
  return words.length === 0 ? 'no answer' : words.sort().join(', ')
}

function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, TICK_MS)
  return promise
}
