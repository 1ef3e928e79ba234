import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from './connection.ts'

/**
 * More simultaneous connects would overflow the engine's listen backlog; the kernel then retries only after a
 * second.
 */
const AT_ONCE = 200
/** Longest time (ms) before other connections of the thread are served once. */
const TURN_MS = 3

/** Calls `act` for each item, at most `atOnce` at a time, in slices of a few milliseconds. */
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
