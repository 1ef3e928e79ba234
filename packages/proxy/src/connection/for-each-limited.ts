import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from './connection.ts'

/** More at once would overflow the engine's queue of new connections: then the kernel tries again only after a second. */
const AT_ONCE = 200
/** The longest time without service for the thread's other connections; then all are served once. */
const TURN_MS = 3

/** Calls `act` for each item, some at a time, in pieces of a few milliseconds. */
export async function forEachLimited(
  connections: readonly Connection[],
  act: (connection: Connection) => Promise<unknown>,
  atOnce = AT_ONCE,
): Promise<void> {
  const rest = connections.values()
  let turnBegan = performance.now()
  const work = async (): Promise<void> => {
    for (const connection of rest) {
      await act(connection)
      if (performance.now() - turnBegan < TURN_MS) continue
      await nextTurn()
      turnBegan = performance.now()
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, connections.length) }, work))
}
