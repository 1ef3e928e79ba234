import { messageOf } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { endUnreached } from '../connection/end-connection.ts'
import { isLate } from '../connection/is-late.ts'
import { moveConnection, releaseConnection, resume } from '../handover/move-connection.ts'
import { adopt, openLink } from '../handover/open-link.ts'
import { targetOf, type UpstreamState } from './upstream-state.ts'

/** Longest wait (ms) of a client for an unreachable engine. */
const REACH_MS = 2_000
/** Returns the deadline for reaching an engine (monotonic ms). */
export const reachBy = () => performance.now() + REACH_MS

/** Gives a new connection its first link, or closes it with an error. */
export async function openFirstLink(state: UpstreamState, connection: Connection): Promise<void> {
  try {
    const link = await openLink(connection, targetOf(state), reachBy())
    if (connection.mode !== 'opening') return void link.socket.destroy()
    adopt(connection, link)
    if (!isLate(connection)) return serve(state, connection)
    connection.mode = 'held'
    await follow(state, connection)
  } catch (cause) {
    // If a switch has begun, it reopens the link.
    if (connection.mode !== 'opening') return
    const why = `no engine could be reached: ${messageOf(cause)}`
    state.owner.onError(why)
    endUnreached(connection, 'LOADING the database cannot be reached right now; try again', why)
  }
}

/** Moves one connection that has not followed the last switch yet. */
export async function follow(state: UpstreamState, connection: Connection): Promise<void> {
  const { mode } = connection
  if (state.isGoing || !isLate(connection) || (mode !== 'held' && mode !== 'opening')) return
  connection.move.era = state.owner.era
  const following = moveConnection(connection, targetOf(state), reachBy())
  state.followers.add(following)
  await following
  state.followers.delete(following)
  serve(state, connection)
}

/** Serves a connection that has its link, or holds it if a new hold has begun. */
function serve(state: UpstreamState, connection: Connection): void {
  if (connection.mode === 'closed') return
  connection.mode = 'serving'
  if (state.hold === null) serveAgain(state, connection)
  else state.hold.take(connection)
}

/** Serves the connection and counts the requests that had waited. */
export function serveAgain(state: UpstreamState, connection: Connection): void {
  const before = connection.link?.sent ?? 0
  resume(connection)
  const requests = Math.max(0, (connection.link?.sent ?? before) - before)
  state.resumed += requests
  state.tape.served(connection, requests)
}

/** Releases a held connection; if it is late, moves it to the new address first. */
export function proceed(state: UpstreamState, connection: Connection): void {
  if (isLate(connection)) void follow(state, connection)
  else void releaseConnection(connection, targetOf(state), reachBy())
}
