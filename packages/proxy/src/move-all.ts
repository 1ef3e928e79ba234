import type { Connection } from './connection.ts'
import { isSubscribed } from './connection-state.ts'
import { eachOf } from './each-of.ts'
import { askAgain, noticeQuiet } from './move-connection.ts'
import { connectOnce, type Target } from './open-link.ts'

const PROBE_MS = 500

/** What became of the connections of an endpoint. */
export interface MovedAll {
  /** There, and to be served now. */
  readonly ready: readonly Connection[]
  /** To follow: nothing waits for them, or they wait for their own clients. */
  readonly later: readonly Connection[]
  readonly closed: number
}

/**
 * Moves the connections that somebody waits for. Nobody is served before all of them are there: a subscriber, or one that
 * waits for a list, must not miss what others do first. The idle ones follow later, or when they are asked something.
 */
export async function moveAll(
  connections: readonly Connection[],
  move: (connection: Connection) => Promise<void>,
  target: Target,
): Promise<MovedAll> {
  const first = connections.filter((each) => noticeQuiet(each) && isAwaited(each))
  const among = new Set(first)
  const later = connections.filter((each) => !among.has(each) && each.mode !== 'closed')
  for (const connection of later) connection.late = true
  for (const connection of first) connection.late = false
  await eachOf(first, move)
  const ready = first.filter(({ mode }) => mode === 'moving')
  const waiting = ready.filter(({ again }) => again !== null)
  for (const connection of waiting) askAgain(connection)
  if (waiting.length > 0 || ready.some(({ state }) => isSubscribed(state))) await hasReadEverything(target)
  return { ready, later, closed: first.length - ready.length }
}

function isAwaited({ state, blocked, stash, mode }: Connection): boolean {
  return mode === 'opening' || blocked || stash.length > 0 || state.unmovable !== '' || isSubscribed(state)
}

/**
 * What was sent to the engine before this began has been read when it ends: an answer on a connection of its own comes
 * from a later turn of the engine's loop. That the answer may be an error (NOAUTH) does not matter.
 */
async function hasReadEverything(target: Target): Promise<void> {
  try {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = await connectOnce(target, performance.now() + PROBE_MS, () => resolve())
    const timer = setTimeout(resolve, PROBE_MS)
    socket.on('close', () => resolve())
    socket.write('PING\r\n')
    await promise
    clearTimeout(timer)
    socket.destroy()
  } catch {
    // It cannot be reached any more: its connections will notice that themselves.
  }
}
