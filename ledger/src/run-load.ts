import type { CheckedLoadOptions } from './check-load-options.ts'
import { createPrimaryRoute } from './follow-primary.ts'
import { createGaps, type Gap } from './gaps.ts'
import type { Layout } from './layout.ts'
import { type LoadConnection, type LoadEvents, openLoadConnection } from './load-connection.ts'
import { type LedgerReport, reportLoad } from './load-report.ts'
import { countTrouble, createLoadState, type Ledger, type LoadState } from './load-state.ts'
import { ALONE_WITHIN_MS, type LayoutLookup } from './lookup-layout.ts'
import { createPace, type Pace } from './pace.ts'
import { nowUnixMs } from './unix-clock.ts'

export interface RunningLoad {
  readonly ledger: Ledger
  /** What the API said when the load began. */
  readonly layout: Layout
  acked(): number
  /** Of all writes, or of those to one group, by its place in the layout's groups. */
  longestGapMs(window: Gap, group?: number): number
  /** Issues nothing more, waits for what is outstanding (at most `replyWithinMs`), and reports. */
  stop(): Promise<LedgerReport>
}

/** Logins take milliseconds, unless the machine is busy. */
const START_WITHIN_MS = 30_000
const TICK_MS = 1

/** Connects every client to the primary and starts to write. Throws when not all of them could log in. */
export async function runLoad(options: CheckedLoadOptions, lookup: LayoutLookup): Promise<RunningLoad> {
  const layout = await lookup.ask(ALONE_WITHIN_MS)
  const state = createLoadState(options, layout)
  const route = createPrimaryRoute({
    first: layout,
    apiMayLagMs: options.apiMayLagMs,
    lookUp: () => lookup.ask(),
    onFailure: state.lookupFailed,
    onHint: () => countTrouble(state, 'hint'),
  })
  const settled = Promise.withResolvers<void>()
  const events = createEvents(state, options, () => settled.resolve())
  const late = setTimeout(() => settled.resolve(), START_WITHIN_MS)
  const { password } = options
  const { places } = state.ledger
  places.forEach(({ slot }, number) => {
    state.connections.push(openLoadConnection({ number, slot, password, route, events }))
  })
  await settled.promise
  clearTimeout(late)

  if (state.connections.some((connection) => connection.state !== 'idle')) {
    for (const connection of state.connections) connection.close()
    const primaries = new Set(
      places.map(({ slot }) => route.current(slot)).map(({ host, port }) => `${host}:${port}`),
    )
    throw new Error(
      `not all of ${options.connections} clients could log in at ${[...primaries].join(', ')}: ${spell(state.errors)}; check the password and the engine's maxclients`,
    )
  }
  return begin(state, options, layout)
}

/**
 * `onSettled` is called when every connection has come up, or none ever will; until then nothing is issued.
 */
function createEvents(state: LoadState, options: CheckedLoadOptions, onSettled: () => void): LoadEvents {
  const { book, writes, trails, places } = state.ledger
  return {
    command: (number) => writes.command(number, book.nextNumber(number)),
    acknowledges(number, reply) {
      const trail = trails[number]
      if (trail ? reply.kind !== 'integer' : reply.kind !== 'status' || reply.text !== 'OK') return false
      book.note(number, 'acked')
      state.acked += 1
      const nowMs = nowUnixMs()
      state.gaps?.acked(nowMs)
      state.gapsOfGroups[places[number]?.group ?? 0]?.acked(nowMs)
      if (trail && reply.kind === 'integer' && !trail.acked(reply.value)) state.jumps += 1
      return true
    },
    refused(number, why) {
      book.note(number, 'refused')
      countTrouble(state, why)
      state.pace?.giveBack()
    },
    unknown(number, why) {
      book.note(number, 'unknown')
      trails[number]?.unknown()
      countTrouble(state, why)
    },
    broken(_, why) {
      countTrouble(state, why)
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

function begin(state: LoadState, options: CheckedLoadOptions, layout: Layout): RunningLoad {
  const startMs = nowUnixMs()
  let endMs = Number.POSITIVE_INFINITY
  const pace = createPace(options.perSecond, performance.now())
  const gaps = createGaps(startMs)
  state.pace = pace
  state.gaps = gaps
  state.gapsOfGroups = layout.groups.map(() => createGaps(startMs))
  const ticks = setInterval(createTick(state, pace), TICK_MS)
  const sweep = setInterval(giveUpLate, Math.max(5, Math.min(250, options.replyWithinMs / 4)))

  return {
    ledger: state.ledger,
    layout,
    acked: () => state.acked,
    longestGapMs(window, group) {
      if (window.toMs < startMs || window.fromMs > endMs)
        throw new Error('the load did not run in that window')
      const asked = group === undefined ? gaps : state.gapsOfGroups[group]
      if (!asked) throw new Error(`there is no group ${group}: there are ${layout.groups.length}, from 0 on`)
      return asked.longestMs(window, nowUnixMs())
    },
    async stop() {
      endMs = nowUnixMs()
      clearInterval(ticks)
      state.behind = false
      while (state.connections.some((connection) => connection.state === 'busy')) await nextTurn()
      clearInterval(sweep)
      for (const all of [gaps, ...state.gapsOfGroups]) all.end(endMs)
      for (const connection of state.connections) connection.close()
      return reportLoad(state, layout, (endMs - startMs) / 1000)
    },
  }

  function giveUpLate(): void {
    const sentBeforeMs = performance.now() - options.replyWithinMs
    for (const connection of state.connections) connection.giveUp(sentBeforeMs)
  }
}

/** Gives due commands to idle connections in turn, so that all of them take part. */
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

function spell(errors: Readonly<Record<string, number>>): string {
  const words = Object.entries(errors).map(([why, times]) => `${why} ${times}×`)
  return words.length === 0 ? 'no answer' : words.sort().join(', ')
}

function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, TICK_MS)
  return promise
}
