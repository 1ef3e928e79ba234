import type { Address, EndpointSpec, HoldResult, SwitchResult } from '@fairlead/api/of-proxies'
import { isSameAddress } from '@fairlead/engine'
import { type Behind, behindOf } from '../connection/behind.ts'
import type { Connection, Owner } from '../connection/connection.ts'
import { dropConnection } from '../connection/end-connection.ts'
import { BEFORE_ALL, isLate } from '../connection/is-late.ts'
import type { PublishBarrier } from '../connection/publish-barrier.ts'
import { type CursorGenerations, createGenerations } from '../handover/cursor-generations.ts'
import { createCursorsNow } from '../handover/cursors-now.ts'
import { createLongRequests, noQuiescence, type Quiescence } from '../handover/long-requests.ts'
import { noticeQuiet } from '../handover/move-connection.ts'
import { createOverdueReplies } from '../handover/overdue-replies.ts'
import { prepareLinks } from '../handover/prepare-links.ts'
import { createUnblockedClients } from '../handover/unblocked-clients.ts'
import { addressText } from '../listen/address-text.ts'
import type { Admission } from '../listen/admission.ts'
import { createEndpointStats, type EndpointStats } from '../listen/endpoint-stats.ts'
import type { Others } from '../listen/others.ts'
import { createTape, type Tape } from '../traffic/tape.ts'
import { follow, openFirstLink, proceed } from './follow.ts'
import { type HoldTimes, holdUpstream, letGo } from './hold-upstream.ts'
import { type Goal, switchUpstream } from './switch-upstream.ts'
import { targetOf, type UpstreamState } from './upstream-state.ts'

/** The primary of one group, at its present address, and the connections to it. */
export interface Upstream extends Disposable {
  readonly address: Address
  /** Callbacks and shared parts for new connections. */
  readonly owner: Owner
  readonly connections: ReadonlySet<Connection>
  readonly isHeld: boolean
  readonly seen: EndpointStats
  readonly tape: Pick<Tape, 'read'>
  /** Addresses of connections that have not moved yet; reported for a while after a switch. */
  readonly behind: readonly Behind[]
  /** Adds a connection without a link. It soon gets one, or is closed with an error. */
  add(connection: Connection): void
  /** Opens links to `address` for connections in use, before a hold. Returns their number. */
  prepare(address: Address): Promise<number>
  /** Before a hold: returns the blocking commands that may be ended, as the proxy's ends of their links. */
  blocked(): readonly string[]
  /**
   * Before a hold: waits at most `withinMs` for long requests. Returns the number left; above 0 it failed.
   */
  calm(withinMs: number): Promise<Quiescence>
  /** Stops forwarding and waits until all replies have arrived. */
  hold(times: HoldTimes): Promise<HoldResult>
  /**
   * Moves all connections to `address` and releases clients there, those with waiting requests first. Throws
   * a Refusal if replies are late. `generation`: of the cursors given there; default: the next one.
   */
  switchTo(address: Address, others?: Others, generation?: number): Promise<SwitchResult>
  /**
   * Ends the hold without a switch: clients continue at the old engine. `hasFailed`: counts it as a failed
   * hold.
   */
  release(hasFailed?: boolean): void
}

/** A client that has not read its replies after this time is no longer reported as behind. */
const BEHIND_MS = 30_000
/** Reason for closing connections when their endpoint is removed or the proxy ends. */
export const TAKEN_AWAY = 'the endpoint was removed'

/** Events and shared parts of an upstream. */
type UpstreamEvents = Pick<Owner, 'count' | 'allowance' | 'onCut' | 'onLogin' | 'scripts' | 'peers'> & {
  readonly onClosed: (connection: Connection) => void
  readonly admission: Admission
}

/**
 * Creates an upstream. `onCut` is called before a connection is closed by the proxy, `onClosed` for each
 * closed one; `count` counts forwarded requests; `scripts` learns clients' scripts.
 */
export function createUpstream(
  first: Address,
  tls: EndpointSpec['upstreamTls'],
  events: UpstreamEvents,
  generations: CursorGenerations = createGenerations(),
): Upstream {
  const state = createState(first, tls, events, generations)
  const { connections, owner, seen, tape, longRequests, overdueReplies, givenUp } = state
  return {
    get address() {
      return state.address
    },
    get isHeld() {
      return state.hold !== null
    },
    owner,
    connections,
    seen,
    tape,
    get behind() {
      const isOver = performance.now() - state.switchedMs > BEHIND_MS
      return isOver ? [] : behindOf(connections, addressText(state.address))
    },
    add(connection) {
      connections.add(connection)
      noteWaiting(state, connection)
      void openFirstLink(state, connection)
    },
    prepare: (to) => prepareLinks(connections, { ...targetOf(state), ...to }, events.admission),
    blocked: () => (state.hold === null && state.switching === null ? givenUp.candidates() : []),
    async calm(withinMs) {
      if (state.hold !== null) return noQuiescence
      const calm = await longRequests.end(withinMs, await overdueReplies.settle())
      if (calm.long > 0) seen.failedHolds += 1
      return calm
    },
    hold: (times) => holdUpstream(state, times),
    switchTo: (to, others, generation) => switchInTurn(state, { to, others, generation }),
    release(hasFailed = false) {
      if (state.switching !== null) return
      if (hasFailed && state.hold !== null) seen.failedHolds += 1
      if (!hasFailed && state.hold !== null) longRequests.open('held')
      givenUp.end()
      letGo(state)
    },
    [Symbol.dispose]() {
      state.hold?.end()
      state.hold = null
      for (const connection of connections) dropConnection(connection, TAKEN_AWAY)
    },
  }
}

async function switchInTurn(state: UpstreamState, goal: Goal): Promise<SwitchResult> {
  await state.switching?.catch(() => null)
  if (state.hold === null && isSameAddress(goal.to, state.address))
    return { moved: 0, later: 0, closed: 0, heldMs: 0 }
  state.switching = switchUpstream(state, goal)
  try {
    return await state.switching
  } finally {
    state.switching = null
  }
}

function createState(
  address: Address,
  tls: EndpointSpec['upstreamTls'],
  events: UpstreamEvents,
  generations: CursorGenerations,
): UpstreamState {
  const connections = new Set<Connection>()
  const longRequests = createLongRequests(connections)
  const barrier: PublishBarrier = { isOn: false }
  const tape = createTape()
  const owner = createOwner(() => state, events, { barrier, tape, gate: longRequests.gate })
  const state: UpstreamState = {
    address,
    tls,
    connections,
    owner,
    longRequests,
    generations,
    barrier,
    tape,
    followers: new Set(),
    seen: createEndpointStats(),
    cursors: createCursorsNow(generations),
    overdueReplies: createOverdueReplies(() => targetOf(state), connections, owner.onError),
    givenUp: createUnblockedClients(connections, (connection) => proceed(state, connection)),
    hold: null,
    isGoing: false,
    switching: null,
    following: null,
    switchedMs: Number.NEGATIVE_INFINITY,
    resumed: 0,
  }
  return state
}

function noteWaiting({ hold, tape }: UpstreamState, connection: Connection): void {
  hold?.waits(connection)
  tape.waits(connection)
}

/** Creates the event handlers of connections. `stateOf`: the state exists before the first connection. */
function createOwner(
  stateOf: () => UpstreamState,
  { count, allowance, scripts, peers, onCut, onLogin, onClosed }: UpstreamEvents,
  own: Pick<Owner, 'barrier' | 'tape' | 'gate'>,
): Owner {
  return {
    era: 0,
    count,
    allowance,
    scripts,
    peers,
    onCut,
    onLogin,
    ...own,
    logins: { asked: null },
    onUnblocked: (connection) => stateOf().givenUp.keep(connection),
    onQuiet: (connection) => {
      const state = stateOf()
      if (state.givenUp.take(connection)) return
      // Its command was ended in a hold, and the role has not moved: the engine closes the link.
      if (connection.mode === 'serving') {
        connection.mode = 'held'
        connection.move.era = BEFORE_ALL
      }
      if (!noticeQuiet(connection)) return
      if (isLate(connection)) void follow(state, connection)
      else state.hold?.look()
    },
    onWaiting: (connection) => {
      const state = stateOf()
      noteWaiting(state, connection)
      void follow(state, connection)
    },
    onClosed: (connection) => {
      const { connections, hold } = stateOf()
      if (connections.delete(connection)) onClosed(connection)
      hold?.look()
    },
    onError: (what) => {
      const { seen } = stateOf()
      seen.errors += 1
      seen.lastError = what
    },
  }
}
