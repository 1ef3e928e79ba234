import type { HoldResult } from '@fairlead/api/of-proxies'
import type { Connection } from '../connection/connection.ts'
import { isLate } from '../connection/is-late.ts'
import { createHold, drainOf, type Hold } from '../handover/hold.ts'
import { mayLetGo } from '../handover/may-let-go.ts'
import { proceed } from './follow.ts'
import { targetOf, type UpstreamState } from './upstream-state.ts'

const ASK_AGAIN_MS = 100

/** Length of the hold, and its part for outstanding replies, in ms. */
export interface HoldTimes {
  readonly deadlineMs: number
  readonly drainMs?: number
  /**
   * True if the role has already moved: clients that stop in the middle of a long request are left behind.
   */
  readonly leavesSilent?: boolean
}

/**
 * Stops forwarding and waits until all replies have arrived. If they are late, ends the hold and returns why.
 */
export async function holdUpstream(
  state: UpstreamState,
  { deadlineMs, drainMs = drainOf({ deadlineMs }), leavesSilent = false }: HoldTimes,
): Promise<HoldResult> {
  const { connections, longRequests } = state
  if (state.following !== null) await state.following
  if (state.hold === null) {
    const isSilent = (each: Connection) => leavesSilent || longRequests.isSilent(each)
    state.hold = createHold(connections, () => void giveUpIfServed(state), isSilent)
    state.tape.begin()
    state.givenUp.join()
    for (const connection of connections) {
      if (connection.input.stash.length > 0) state.tape.waits(connection)
      state.hold.take(connection)
    }
  }
  state.hold.renew(deadlineMs)
  const mine = state.hold
  const result = await state.overdueReplies.drain(mine, drainMs, longRequests.gate.isClosed)
  if (mine.unanswered().length > 0) longRequests.open('failed')
  if (!result.drained) {
    longRequests.stuck()
    giveUp(state)
  }
  return result
}

/** Ends the hold, if any: clients continue where they were. */
export function letGo(state: UpstreamState): void {
  if (state.hold === null) return
  endHold(state, state.hold)
  state.hold = null
  state.tape.letGo()
  // Late connections are not released here: their engine no longer has the role.
  for (const connection of state.connections) if (!isLate(connection)) proceed(state, connection)
}

/** Counts a hold that is over. Returns its length in ms. */
export function endHold({ seen }: UpstreamState, ended: Hold): number {
  const heldMs = ended.end()
  seen.heldMsLast = heldMs
  seen.heldMsTotal += heldMs
  return heldMs
}

function giveUp(state: UpstreamState): void {
  if (state.switching !== null || state.hold === null) return
  state.seen.failedHolds += 1
  letGo(state)
}

/**
 * Called when a hold's time is over without a switch. If the engine would refuse writes, the hold is renewed.
 */
async function giveUpIfServed(state: UpstreamState): Promise<void> {
  const mine = state.hold
  const isOver = mine === null || (await mayLetGo(state.connections, targetOf(state), mine))
  if (state.hold !== mine || mine === null) return
  isOver ? giveUp(state) : mine.renew(ASK_AGAIN_MS)
}
