import type { HoldObstacle, HoldResult, Obstacle } from '@fairlead/api/of-proxies'
import type { Connection } from '../connection/connection.ts'
import { steerLink } from '../connection/steer-client.ts'
import { isTied } from '../connection/under-way.ts'
import { LONGEST_BEGUN_BYTES } from '../forwarding/forward-rest.ts'
import { forwardedBytes, inTheMiddle } from './long-requests.ts'
import { type Arranged, type Arrangement, arrange } from './move-all.ts'
import { holdConnection, isHeldUpByClient, mayBeUnexecuted, noticeQuiet } from './move-connection.ts'

/**
 * How long all wait for clients that do not read what they asked for, or send nothing more of a long request. Most were just late at
 * this moment. A request that cannot follow then puts the hold off, unless its client was silent before.
 */
const PATIENCE_MS = 50

/** The hold of a switch that nothing has prepared. */
export const OWN_HOLD = { deadlineMs: 10_000, drainMs: 3_000, leavesSilent: true }

/** The time in which an endpoint forwards nothing new. */
export interface Hold {
  /** Holds a connection too. */
  take(connection: Connection): void
  /** It has just come, or its client has sent something that waits. */
  waits(connection: Connection): void
  /** All connections, by what is to become of them when the role has moved. Only few are looked at: most are sorted before. */
  arranged(): Arranged
  /** Those of which `waits` was told since `arranged`. */
  lately(): readonly Connection[]
  /** From now on so many milliseconds until it is given up. */
  renew(deadlineMs: number): void
  /** A connection has changed: perhaps all are quiet now. */
  look(): void
  /** Waits until nothing is under way on any connection, but for clients that hold up only themselves. */
  drained(withinMs: number): Promise<HoldResult>
  /** Connections whose replies it waits for, or whose replies did not come. */
  unanswered(): readonly Connection[]
  /** So many milliseconds since it began. */
  ms(): number
  /** Clients that have sent something meanwhile, or have come, and how long the first of them has waited until now, in milliseconds. */
  waited(): { readonly clients: number; readonly longestMs: number }
  /** Over. How long it took, in milliseconds. */
  end(): number
}

type Connections = ReadonlySet<Connection>
type Which = (connection: Connection) => boolean

/**
 * Between the pause of the primary and the first client that is served again, few connections are looked at. Thousands may be idle,
 * subscribed or blocked, and one look at each takes as long as a handover: that is done while the engines are at work. `isSilent`: nothing
 * waits for the rest of a long request of such a client.
 */
export function createHold(connections: Connections, giveUp: () => void, isSilent: Which): Hold {
  const began = performance.now()
  const { promise: ended, resolve: tellEnded } = Promise.withResolvers<void>()
  const suspects = createSuspects()
  const replies = createReading()
  const order = createOrder(connections)
  let isOver = false
  const waiting: (() => void)[] = []
  let waitsForReaders = true
  /** What those that are in the middle of a long request had forwarded when the hold began, and lately. */
  let first: ReadonlyMap<Connection, number> = new Map()
  let lately = first
  let deadline: NodeJS.Timeout | undefined
  const ms = () => Math.round((performance.now() - began) * 100) / 100

  const isIdle = (each: Connection) => forwardedBytes(each) === lately.get(each)
  const isGivenUp = (each: Connection) =>
    isTied(each)
      ? isHeldUpByClient(each) && isIdle(each) && !isSending(each, first)
      : !waitsForReaders && isUnread(each) && isHeldUpByClient(each)
  const look = () => {
    if (waiting.length === 0 || !suspects.areQuietOr(isGivenUp)) return
    for (const tell of waiting.splice(0)) tell()
  }
  const lookAtClients = () => {
    waitsForReaders = false
    replies.readOn(suspects.busy())
    look()
    lately = forwardedBy(suspects.busy())
  }

  return {
    take(connection) {
      holdConnection(connection)
      suspects.add(connection)
    },
    ...{ waits: order.waits, arranged: order.arranged, lately: order.lately, waited: order.waited },
    renew(deadlineMs) {
      clearTimeout(deadline)
      deadline = setTimeout(giveUp, deadlineMs)
    },
    look,
    async drained(withinMs) {
      first = forwardedBy(suspects.busy())
      lately = first
      replies.readOn([...first.keys()])
      if (first.size > 0) await untilTold(waiting, ended, withinMs, lookAtClients)
      const left = suspects.busy()
      setImmediate(() => isOver || order.arrangeAhead())
      const obstacle = isOver ? hasEnded : whyNotDrained(left, first, isSilent)
      return { drained: obstacle === undefined, ms: ms(), why: '', ...obstacle, late: left.length }
    },
    unanswered: () => (isOver ? [] : unansweredOf(suspects.busy())),
    ms,
    end() {
      clearTimeout(deadline)
      isOver = true
      replies.end()
      tellEnded()
      return ms()
    },
  }
}

/** Until all are quiet, the hold has `ended`, or `withinMs`. */
async function untilTold(
  waiting: (() => void)[],
  ended: Promise<void>,
  withinMs: number,
  lookAtClients: () => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.push(resolve)
  const end = setTimeout(resolve, withinMs)
  // Again and again: a client that stops reading later does not announce it.
  // Should this thread have had no time, what came meanwhile is read first.
  const clients = setInterval(() => setImmediate(lookAtClients), PATIENCE_MS)
  await Promise.race([promise, ended])
  clearTimeout(end)
  clearInterval(clients)
}

/**
 * The connections that may not be quiet yet. They are looked at one after the other: looking at all of them for each answer would have
 * a quadratic cost.
 */
function createSuspects() {
  const suspects = new Set<Connection>()
  const isBusy = (each: Connection) => each.mode !== 'opening' && each.mode !== 'held' && !noticeQuiet(each)
  return {
    add(connection: Connection) {
      if (isBusy(connection)) suspects.add(connection)
    },
    busy(): readonly Connection[] {
      for (const each of suspects) if (!isBusy(each)) suspects.delete(each)
      return [...suspects]
    },
    /** Whether each is quiet, or `isGivenUp`. */
    areQuietOr(isGivenUp: (each: Connection) => boolean): boolean {
      for (const each of suspects) {
        if (!isBusy(each)) suspects.delete(each)
        else if (!isGivenUp(each)) return false
      }
      return true
    },
  }
}

/**
 * Reads engines although their clients do not read, as far as replies may be kept: so it is seen when all
 * that these clients have sent is executed.
 */
function createReading() {
  const read = new Set<Connection>()
  return {
    readOn(connections: readonly Connection[]) {
      for (const each of connections) {
        const { link } = each
        if (read.has(each) || link === null || !isUnread(each) || !mayBeUnexecuted(link)) continue
        read.add(each)
        each.readsOn += 1
        steerLink(each)
      }
    },
    end() {
      for (const each of read) {
        each.readsOn -= 1
        steerLink(each)
      }
    },
  }
}

/** In which order connections move. It is made while the hold waits, and corrected by those whose clients have asked something since. */
function createOrder(connections: ReadonlySet<Connection>) {
  let arrangement: Arrangement | null = null
  let waited = new Set<Connection>()
  const since = new Map<Connection, number>()
  return {
    waits(connection: Connection) {
      waited.add(connection)
      if (!since.has(connection)) since.set(connection, performance.now())
    },
    waited() {
      const [first = performance.now()] = since.values()
      return { clients: since.size, longestMs: Math.round((performance.now() - first) * 100) / 100 }
    },
    lately: () => [...waited],
    arrangeAhead() {
      waited = new Set()
      arrangement = arrange(connections)
    },
    arranged() {
      const changed = waited
      waited = new Set()
      return (arrangement ?? arrange(connections))(changed)
    },
  }
}

const hasEnded: Obstacle<HoldObstacle> = { code: 'hold_ended', why: 'the hold has ended' }

/** Undefined when only clients stand in the way, and only in their own. `before`: what each had forwarded. */
function whyNotDrained(
  left: readonly Connection[],
  before: ReadonlyMap<Connection, number>,
  isSilent: Which,
): Obstacle<HoldObstacle> | undefined {
  const unanswered = unansweredOf(left)
  if (unanswered.length > 0)
    return {
      code: 'replies_missing',
      why: `${unanswered.length} connection(s) wait for replies of the engine`,
    }
  const sending = left.filter((each) => isSending(each, before) || (isTied(each) && !isSilent(each))).length
  return sending > 0 ? inTheMiddle(sending) : undefined
}

function unansweredOf(left: readonly Connection[]): readonly Connection[] {
  return left.filter((each) => !isHeldUpByClient(each))
}

/** Whether the connection is in the middle of a long request that has to end at its engine, and forwards so many bytes of it that it is worth waiting. */
function isSending(connection: Connection, before: ReadonlyMap<Connection, number>): boolean {
  const forwarded = forwardedBytes(connection) - (before.get(connection) ?? 0)
  return isTied(connection) && forwarded >= LONGEST_BEGUN_BYTES
}

function forwardedBy(connections: readonly Connection[]): ReadonlyMap<Connection, number> {
  return new Map(connections.map((each) => [each, forwardedBytes(each)]))
}

/** It only waits for its client to read. */
function isUnread(connection: Connection): boolean {
  return connection.client.writableNeedDrain && !isTied(connection)
}

/** How long a hold waits for replies: half of it, unless it is told. */
export function drainOf(times: { readonly deadlineMs: number; readonly drainMs?: number }): number {
  return times.drainMs ?? Math.ceil(times.deadlineMs / 2)
}
