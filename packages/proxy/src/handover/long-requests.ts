import { setTimeout as delay, setImmediate as whatCame } from 'node:timers/promises'
import type { HoldObstacle, HoldResult, Obstacle } from '@fairlead/api/of-proxies'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import {
  LONGEST_REQUEST_MS,
  LONGEST_SERIES_MS,
  notPutOff,
  overdueFor,
  putOffAgain,
} from '../connection/handover-delay.ts'
import { isTied } from '../connection/under-way.ts'
import { createLongGate, type LongGateKeeper } from './create-long-gate.ts'

/** A long request that takes longer is waited for before clients are held. */
export const SHORT_MS = 50
/**
 * A handover ignores a client whose request made no progress for this time. Longer than the pause after a
 * lost packet, or of a client without CPU time.
 */
const SILENT_MS = 2_000
/** Longest wait. The hold is delayed, but clients are served. */
const MOST_MS = 500
const LOOK_MS = 10

/** Result of a wait for long requests. */
export interface Quiescence {
  /** Connections in the middle of a long request. */
  readonly long: number
  /** Highest number of delays in a row by one of them: the more, the longer until the next attempt. */
  readonly tries: number
  /** Clients that were closed because they delayed holds for too long. */
  readonly cut: number
}

/** The long requests of an upstream, and the gate for new ones. */
export interface LongRequests extends Pick<LongGateKeeper, 'gate' | 'open' | 'stuck'> {
  /**
   * Waits at most `withinMs`, without holding any client, for long requests that cannot follow.
   * 1. Requests that have just begun, and requests of silent clients, are not waited for.
   * 2. Returns how many are left. Clients that have delayed handovers for too long are closed.
   * 3. `withinMs` 0: no wait, because other threads already hold their clients; a request counts if bytes of
   *    it came since the last wait. Every other wait counts as an attempt for the gate.
   * 4. `cutBefore`: other clients closed before, to be included in `cut`.
   */
  end(withinMs: number, cutBefore: number): Promise<Quiescence>
  /** True if the request has made no progress for so long that no handover waits for it. */
  isSilent(connection: Connection): boolean
}

/** Watches these connections for slow long requests. */
export function createLongRequests(connections: ReadonlySet<Connection>): LongRequests {
  let under: ReadonlyMap<Connection, UnderWay> = new Map()
  const keeper = createLongGate(connections)
  const { gate, open, stuck } = keeper
  return {
    gate,
    open,
    stuck,
    async end(withinMs, cutBefore) {
      if (withinMs > 0) keeper.attempt()
      const cut = cutBefore + (keeper.areAllOverdue() ? cutAll(connections) : 0)
      under = await longRequestsEnd(connections, under, withinMs)
      const calm = countPutOffs(connections, slowOf(under))
      if (calm.long > 0) stuck()
      // Requests at the gate should wait no longer than necessary.
      const tries = gate.isClosed ? Math.min(calm.tries, 1) : calm.tries
      return { ...calm, tries, cut: calm.cut + cut }
    },
    isSilent(connection) {
      // These bytes are no request, and never end.
      if (connection.input.protocolError !== undefined) return true
      const known = under.get(connection)
      return known !== undefined && isStill(connection, known) && hasGoneSilent(known, performance.now())
    },
  }
}

/** Includes silent clients: they may continue once clients are held, and have had their time. */
function cutAll(connections: ReadonlySet<Connection>): number {
  const partly = [...connections].filter(isTied)
  for (const connection of partly) endConnection(connection, TOO_MANY)
  return partly.length
}

async function longRequestsEnd(
  connections: ReadonlySet<Connection>,
  before: ReadonlyMap<Connection, UnderWay>,
  withinMs: number,
): Promise<ReadonlyMap<Connection, UnderWay>> {
  if (withinMs === 0) return look(connections, before, performance.now())
  // The start of present requests is unknown, but their progress since the last attempt is known.
  let under = look(connections, before, Number.NEGATIVE_INFINITY)
  const until = performance.now() + Math.min(withinMs, MOST_MS)
  while (slowOf(under).length > 0 && performance.now() < until) {
    await delay(LOOK_MS)
    // After a stall of this thread, arrived bytes are read first.
    await whatCame()
    under = look(connections, under, performance.now())
  }
  return under
}

function slowOf(under: ReadonlyMap<Connection, UnderWay>): readonly (readonly [Connection, UnderWay])[] {
  const nowMs = performance.now()
  return [...under].filter(([, each]) => nowMs - each.sinceMs > SHORT_MS && !hasGoneSilent(each, nowMs))
}

function hasGoneSilent({ movedMs }: UnderWay, nowMs: number): boolean {
  return nowMs - movedMs > SILENT_MS
}

/** True if the connection is in the same request, without progress. */
function isStill(connection: Connection, { request, bytes }: UnderWay): boolean {
  return connection.link?.sent === request && forwardedBytes(connection) === bytes
}

const TOO_LONG = `ERR this request took more than ${LONGEST_REQUEST_MS / 1_000} s to arrive, and an upgrade waited for it: send it again`
const TOO_MANY = `ERR an upgrade has waited ${LONGEST_SERIES_MS / 60_000} minutes for requests like this one to arrive: send it again`

/** Counts the clients that delayed the hold, and closes those that exceeded a limit. */
function countPutOffs(
  connections: ReadonlySet<Connection>,
  slow: readonly (readonly [Connection, UnderWay])[],
): Quiescence {
  const nowMs = performance.now()
  const inTheWay = new Set(slow.map(([connection]) => connection))
  for (const each of connections)
    if (each.move.putOff !== null && !inTheWay.has(each))
      each.move.putOff = notPutOff(each.move.putOff, nowMs)
  let [long, tries, cut] = [0, 0, 0]
  for (const [connection, { request }] of slow) {
    const putOff = putOffAgain(connection.move.putOff, request, nowMs)
    connection.move.putOff = putOff
    const waitedFor = overdueFor(putOff, nowMs)
    if (waitedFor !== null) {
      endConnection(connection, waitedFor === 'request' ? TOO_LONG : TOO_MANY)
      cut += 1
    } else {
      long += 1
      tries = Math.max(tries, putOff.times)
    }
  }
  return { long, tries, cut }
}

/** Returns the result of a hold that could not begin. */
export function notBegun({ long, tries, cut }: Quiescence): HoldResult {
  return { drained: false, ms: 0, ...inTheMiddle(long), late: 0, tries, cut }
}

/** Adds clients closed before the hold to its result. */
export function withCut(held: HoldResult, { cut }: Quiescence): HoldResult {
  return { ...held, cut: cut + (held.cut ?? 0) }
}

/** The result when clients are already held. */
export const noQuiescence: Quiescence = { long: 0, tries: 0, cut: 0 }

/** Combines the results of several threads or groups. */
export function allQuiescent(parts: readonly Quiescence[]): Quiescence {
  return {
    long: parts.reduce((sum, { long }) => sum + long, 0),
    tries: Math.max(0, ...parts.map(({ tries }) => tries)),
    cut: parts.reduce((sum, { cut }) => sum + cut, 0),
  }
}

/** Returns why a hold failed. */
export function inTheMiddle(connections: number): Obstacle<HoldObstacle> {
  return {
    code: 'long_requests',
    why: `${connections} connection(s) are in the middle of a long request`,
  }
}

/** A long request: its number on its connection, when it began, and its last progress. */
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
    if (!isTied(connection) || connection.input.protocolError !== undefined) continue
    const [request, bytes] = [connection.link?.sent ?? 0, forwardedBytes(connection)]
    const known = before.get(connection)
    if (known?.request !== request) under.set(connection, { request, bytes, sinceMs, movedMs: nowMs })
    else if (known.bytes === bytes) under.set(connection, known)
    else under.set(connection, { ...known, bytes, movedMs: nowMs })
  }
  return under
}

/** Bytes written to the shard on the present link; 0 without a link. */
export function forwardedBytes({ link }: Connection): number {
  return link?.socket.bytesWritten ?? 0
}
