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
} from '../connection/put-off.ts'
import { isTied } from '../connection/under-way.ts'
import { createLongGate, type LongGateKeeper } from './create-long-gate.ts'

/** A long request that takes longer than this is worth waiting for before clients are held. */
export const SHORT_MS = 50
/**
 * A handover does not wait for a client that has sent nothing of its request for this time. It is longer than the pause after a lost packet, or of a
 * client that gets no processor time for a moment.
 */
const SILENT_MS = 2_000
/** How long that may take: others wait for the hold meanwhile, but are served. */
const MOST_MS = 500
const LOOK_MS = 10

/** What a wait for long requests has come to. */
export interface Calm {
  /** Connections that are in the middle of one. */
  readonly long: number
  /** How often one of these was in the way, in a row: the more often, the longer the next attempt should wait. */
  readonly tries: number
  /** Clients that were in the way for too long, and were cut. */
  readonly cut: number
}

/** The long requests of an upstream, and the gate for those that begin. */
export interface LongRequests extends Pick<LongGateKeeper, 'gate' | 'open' | 'stuck'> {
  /**
   * Waits, for `withinMs` at most, until no connection is in the middle of a long request that cannot follow. Requests that have just begun, and requests of
   * silent clients, are not waited for. No client is held meanwhile. Answers how many such requests are left; clients that have delayed handovers for too long
   * are disconnected. `withinMs` 0: there is no wait, because other threads hold their clients already, and a request counts if bytes of it have come since the last
   * wait. Every other wait is an attempt that the gate counts. `cutBefore`: how many other clients were disconnected before, which count too.
   */
  end(withinMs: number, cutBefore: number): Promise<Calm>
  /** Whether nothing of the client's request has come for so long that no handover waits for it. */
  isSilent(connection: Connection): boolean
}

/** Watches these connections for requests whose bytes are slow to arrive. */
export function createLongRequests(connections: ReadonlySet<Connection>): LongRequests {
  let under: ReadonlyMap<Connection, UnderWay> = new Map()
  const keeper = createLongGate(connections)
  const { gate, open, stuck } = keeper
  return {
    ...{ gate, open, stuck },
    async end(withinMs, cutBefore) {
      if (withinMs > 0) keeper.attempt()
      const cut = cutBefore + (keeper.areAllOverdue() ? cutAll(connections) : 0)
      under = await longRequestsEnd(connections, under, withinMs)
      const calm = countPutOffs(connections, slowOf(under))
      if (calm.long > 0) stuck()
      // Those that wait at the gate are not to wait longer than they have to.
      const tries = gate.isClosed ? Math.min(calm.tries, 1) : calm.tries
      return { ...calm, tries, cut: calm.cut + cut }
    },
    isSilent(connection) {
      // These bytes are no request, and never end.
      if (connection.protocolError !== undefined) return true
      const known = under.get(connection)
      return known !== undefined && isStill(connection, known) && hasGoneSilent(known, performance.now())
    },
  }
}

/** One whose client sends nothing, too: it may go on when clients are held, and its client has had its time. */
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
  // It is not known when the present requests began, but it is known whether bytes of them have come since the last attempt.
  let under = look(connections, before, Number.NEGATIVE_INFINITY)
  const until = performance.now() + Math.min(withinMs, MOST_MS)
  while (slowOf(under).length > 0 && performance.now() < until) {
    await delay(LOOK_MS)
    // Should this thread have had no time, what came meanwhile is read first.
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

/** Whether the connection is in the middle of the same request, of which nothing has come since. */
function isStill(connection: Connection, { request, bytes }: UnderWay): boolean {
  return connection.link?.sent === request && forwardedBytes(connection) === bytes
}

const TOO_LONG = `ERR this request took more than ${LONGEST_REQUEST_MS / 1_000} s to arrive, and an upgrade waited for it: send it again`
const TOO_MANY = `ERR an upgrade has waited ${LONGEST_SERIES_MS / 60_000} minutes for requests like this one to arrive: send it again`

/** Notes the clients that were in the way, and cuts those that were for too long. */
function countPutOffs(
  connections: ReadonlySet<Connection>,
  slow: readonly (readonly [Connection, UnderWay])[],
): Calm {
  const nowMs = performance.now()
  const inTheWay = new Set(slow.map(([connection]) => connection))
  for (const each of connections)
    if (each.putOff !== null && !inTheWay.has(each)) each.putOff = notPutOff(each.putOff, nowMs)
  let [long, tries, cut] = [0, 0, 0]
  for (const [connection, { request }] of slow) {
    const putOff = putOffAgain(connection.putOff, request, nowMs)
    connection.putOff = putOff
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

/** What a hold would have come to. */
export function notBegun({ long, tries, cut }: Calm): HoldResult {
  return { drained: false, ms: 0, ...inTheMiddle(long), late: 0, tries, cut }
}

/** What a hold has come to, with those that were closed before it. */
export function withCut(held: HoldResult, { cut }: Calm): HoldResult {
  return { ...held, cut: cut + (held.cut ?? 0) }
}

/** Clients are held already. */
export const noCalm: Calm = { long: 0, tries: 0, cut: 0 }

/** Of several threads, or groups. */
export function allCalm(parts: readonly Calm[]): Calm {
  return {
    long: parts.reduce((sum, { long }) => sum + long, 0),
    tries: Math.max(0, ...parts.map(({ tries }) => tries)),
    cut: parts.reduce((sum, { cut }) => sum + cut, 0),
  }
}

/** Why a hold failed. */
export function inTheMiddle(connections: number): Obstacle<HoldObstacle> {
  return {
    code: 'long_requests',
    why: `${connections} connection(s) are in the middle of a long request`,
  }
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
    if (!isTied(connection) || connection.protocolError !== undefined) continue
    const [request, bytes] = [connection.link?.sent ?? 0, forwardedBytes(connection)]
    const known = before.get(connection)
    if (known?.request !== request) under.set(connection, { request, bytes, sinceMs, movedMs: nowMs })
    else if (known.bytes === bytes) under.set(connection, known)
    else under.set(connection, { ...known, bytes, movedMs: nowMs })
  }
  return under
}

/** How many bytes have left for the shard on the present link; 0 without a link. */
export function forwardedBytes({ link }: Connection): number {
  return link?.socket.bytesWritten ?? 0
}
