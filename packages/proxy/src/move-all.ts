import type { Connection } from './connection.ts'
import { isSubscribed } from './connection-state.ts'
import { askAgain, moveConnection, noticeQuiet } from './move-connection.ts'
import { connectOnce, type Target } from './open-link.ts'

/** More at once would overrun the engine's queue of connections: the kernel then takes a second to try again. */
const AT_ONCE = 200
const PROBE_MS = 500

/**
 * Moves the connections of an endpoint. Nobody is served before all are there: a subscriber, or one that waits for a list,
 * must not miss what others do first. Those whose clients are slow follow later.
 */
export async function moveAll(
  connections: readonly Connection[],
  target: Target,
  untilMs: number,
): Promise<{ readonly ready: readonly Connection[]; readonly closed: number }> {
  const quiet = connections.filter((each) => {
    const isQuiet = noticeQuiet(each)
    each.late = !isQuiet && each.mode !== 'closed'
    return isQuiet
  })
  const rest = quiet.values()
  const work = async (): Promise<void> => {
    for (const connection of rest) await moveConnection(connection, target, untilMs)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, quiet.length) }, work))
  const ready = quiet.filter(({ mode }) => mode === 'moving')
  const waiting = ready.filter(({ again }) => again !== null)
  for (const connection of waiting) askAgain(connection)
  if (waiting.length > 0 || ready.some(({ state }) => isSubscribed(state))) await hasReadEverything(target)
  return { ready, closed: quiet.length - ready.length }
}

/**
 * What was sent to the engine before this began has been read when it ends: an answer on a connection of its own comes
 * from a later turn of the engine's loop. That the answer may be an error (NOAUTH) does not matter.
 */
async function hasReadEverything(target: Target): Promise<void> {
  try {
    const socket = await connectOnce(target, performance.now() + PROBE_MS)
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, PROBE_MS)
    socket.on('data', () => resolve())
    socket.on('close', () => resolve())
    socket.write('PING\r\n')
    await promise
    clearTimeout(timer)
    socket.destroy()
  } catch {
    // It cannot be reached any more: its connections will notice that themselves.
  }
}
