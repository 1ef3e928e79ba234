import { type Address, Refusal, type SwitchResult } from '@fairlead/api/of-proxies'
import type { Connection } from '../connection/connection.ts'
import { forEachLimited } from '../connection/for-each-limited.ts'
import { endPublishBarrier } from '../handover/end-publish-barrier.ts'
import { type Hold, OWN_HOLD } from '../handover/hold.ts'
import { type MoveOrder, moveFirst } from '../handover/move-all.ts'
import { moveConnection } from '../handover/move-connection.ts'
import { takeLastReplies } from '../handover/take-last-messages.ts'
import { meet, type Others } from '../listen/others.ts'
import { follow, proceed, reachBy, serveAgain } from './follow.ts'
import { endHold, holdUpstream } from './hold-upstream.ts'
import { targetOf, type UpstreamState } from './upstream-state.ts'

/** Number of connections without a waiting client that follow at the same time. */
const FOLLOW_AT_ONCE = 8

/**
 * New address, the endpoint's other threads (which move at the same time), and the generation of the new
 * engine's cursors.
 */
export interface Goal {
  readonly to: Address
  readonly others: Others | undefined
  readonly generation: number | undefined
}

/**
 * Moves all connections to another address, in a hold. Throws a Refusal if it must begin the hold and replies
 * are late.
 */
export async function switchUpstream(state: UpstreamState, goal: Goal): Promise<SwitchResult> {
  const hold = await heldFor(state)
  // A connection that still follows the last switch must arrive before it can move again.
  state.isGoing = true
  while (state.followers.size > 0) await Promise.all(state.followers)
  pointTo(state, goal)
  const arranged = hold.arranged()
  const { first, asking, impatient } = arranged
  const later = state.connections.size - first.length - asking.length
  await moveTogether(state, arranged, goal.others)
  state.isGoing = false
  state.hold = null
  state.resumed = 0
  state.longRequests.open('moved')
  for (const connection of first) serveAgain(state, connection)
  for (const connection of [...impatient, ...hold.lately()]) proceed(state, connection)
  await forEachLimited(asking, (connection) => follow(state, connection))
  const { clients, longestMs } = hold.waited()
  const waited = { clients, requests: state.resumed, longestWaitMs: longestMs }
  const heldMs = endHold(state, hold)
  state.tape.moved(heldMs)
  state.following = letOthersFollow(state, arranged, goal.others)
  const closed = [...first, ...asking].filter(({ mode }) => mode === 'closed').length
  return { moved: first.length + asking.length - closed, later, closed, heldMs, ...waited }
}

/** Returns the present hold, or begins one. */
async function heldFor(state: UpstreamState): Promise<Hold> {
  if (state.hold !== null) return state.hold
  const { drained, why } = await holdUpstream(state, OWN_HOLD)
  if (drained && state.hold !== null) return state.hold
  throw new Refusal('order_not_applicable', `the endpoint cannot be held: ${why}`)
}

/** Directs new links to the new address. */
function pointTo(state: UpstreamState, { to, generation }: Goal): void {
  state.address = to
  state.cursors.begin(generation ?? state.generations.take())
  state.switchedMs = performance.now()
  state.seen.repoints += 1
}

/** Moves the connections without pending requests, at the same time in all threads. */
async function moveTogether(
  state: UpstreamState,
  { first, listening, slow }: MoveOrder,
  others: Others | undefined,
): Promise<void> {
  const { owner, barrier } = state
  owner.era += 1
  for (const connection of first) connection.move.era = owner.era
  const move = (connection: Connection) => moveConnection(connection, targetOf(state), reachBy())
  await moveFirst(first, move, targetOf(state))
  await meet(others?.allThere(), owner.onError)
  barrier.isOn = listening.length + slow.length > 0 || others !== undefined
}

/** Moves the others while clients are served. Nothing is published before all subscribers have moved. */
async function letOthersFollow(
  state: UpstreamState,
  { listening, slow, later }: MoveOrder,
  others: Others | undefined,
): Promise<void> {
  const followOne = (connection: Connection) => follow(state, connection)
  await Promise.all([forEachLimited(listening, followOne), ...slow.map(takeLastReplies)])
  await Promise.all(state.followers)
  await meet(others?.allListen(), state.owner.onError)
  state.barrier.isOn = false
  for (const connection of state.connections) endPublishBarrier(connection)
  state.following = null
  void forEachLimited(later, followOne, FOLLOW_AT_ONCE)
}
