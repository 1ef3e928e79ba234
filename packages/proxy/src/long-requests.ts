import { setTimeout as delay, setImmediate as whatCame } from 'node:timers/promises'
import type { HoldResult } from '@fairlead/api'
import type { Connection } from './connection.ts'
import { isPartlySent } from './under-way.ts'

/** A long request that takes longer than this is worth waiting for before anybody is held. */
export const SHORT_MS = 50
/** How long that may take: others wait for the hold meanwhile, but are served. */
const MOST_MS = 500
const LOOK_MS = 10

/**
 * Waits until no connection is in the middle of a long request, but for those that have just begun, and those of which nothing comes
 * any more. Nobody is held meanwhile. How many still are after `withinMs`.
 */
export async function longRequestsEnd(
  connections: ReadonlySet<Connection>,
  withinMs: number,
): Promise<number> {
  // How long those of now are under way nobody knows.
  let under = look(connections, new Map(), Number.NEGATIVE_INFINITY)
  const isSlow = ({ sinceMs, movedMs }: UnderWay, nowMs: number) =>
    nowMs - sinceMs > SHORT_MS && nowMs - movedMs <= SHORT_MS
  const slow = (nowMs: number) => [...under.values()].filter((each) => isSlow(each, nowMs)).length
  const until = performance.now() + Math.min(withinMs, MOST_MS)
  while (slow(performance.now()) > 0 && performance.now() < until) {
    await delay(LOOK_MS)
    // Should this thread have had no time, what came meanwhile is read first.
    await whatCame()
    under = look(connections, under, performance.now())
  }
  return slow(performance.now())
}

/** What a hold would have come to. */
export function notBegun(long: number): HoldResult {
  return { drained: false, ms: 0, why: inTheMiddle(long), late: 0 }
}

export function inTheMiddle(connections: number): string {
  return `${connections} connection(s) are in the middle of a long request`
}

/** A long request: which of its connection's, since when it is under way, and when something of it was forwarded last. */
interface UnderWay {
  readonly request: number
  readonly bytes: number
  readonly sinceMs: number
  readonly movedMs: number
}

function look(
  connections: ReadonlySet<Connection>,
  before: ReadonlyMap<Connection, UnderWay>,
  sinceMs: number,
): Map<Connection, UnderWay> {
  const nowMs = performance.now()
  const under = new Map<Connection, UnderWay>()
  for (const connection of connections) {
    if (!isPartlySent(connection)) continue
    const [request, bytes] = [connection.link?.sent ?? 0, forwardedBytes(connection)]
    const known = before.get(connection)
    if (known?.request !== request) under.set(connection, { request, bytes, sinceMs, movedMs: nowMs })
    else if (known.bytes === bytes) under.set(connection, known)
    else under.set(connection, { ...known, bytes, movedMs: nowMs })
  }
  return under
}

export function forwardedBytes({ link }: Connection): number {
  return link?.socket.bytesWritten ?? 0
}
