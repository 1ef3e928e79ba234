import type { HoldObstacle, HoldResult, Obstacle } from '@fairlead/api/of-proxies'
import type { Connection } from '../connection/connection.ts'
import { steerLink } from '../connection/steer-client.ts'
import { isTied } from '../connection/under-way.ts'
import { LONGEST_BEGUN_BYTES } from '../forwarding/forward-rest.ts'
import { forwardedBytes, inTheMiddle } from './long-requests.ts'
import { type Arrangement, arrange, type MoveOrder } from './move-all.ts'
import { holdConnection, isHeldUpByClient, mayBeUnexecuted, noticeQuiet } from './move-connection.ts'

/**
 * Wait for clients that do not read replies or send the rest of a long request: most are just late. After it,
 * a request that cannot follow makes the hold fail, unless its client was silent before.
 */
const PATIENCE_MS = 50

/** Limits of a hold for a switch without preparation. */
export const OWN_HOLD = { deadlineMs: 10_000, drainMs: 3_000, leavesSilent: true }

/** A period without new forwarded requests. */
export interface Hold {
  /** Holds a connection, too. */
  take(connection: Connection): void
  /** Notes a new connection, or a request that waits. */
  waits(connection: Connection): void
  /** Sorts all connections by order of moving. Most are sorted beforehand, so few are examined. */
  arranged(): MoveOrder
  /** Returns the connections passed to `waits` since the last `arranged`. */
  lately(): readonly Connection[]
  /** Sets the time left until the hold is given up. */
  renew(deadlineMs: number): void
  /** Called when a connection has changed: all may be quiet now. */
  look(): void
  /** Waits until nothing is pending on any connection, except those that only their clients delay. */
  drained(withinMs: number): Promise<HoldResult>
  /** Returns connections whose replies are missing. */
  unanswered(): readonly Connection[]
  /** Returns the ms since the hold began. */
  ms(): number
  /** Returns the number of waiting clients, and the longest wait in ms. */
  waited(): { readonly clients: number; readonly longestMs: number }
  /** Ends the hold. Returns its length in ms. */
  end(): number
}

type Connections = ReadonlySet<Connection>
type Which = (connection: Connection) => boolean

/**
 * Creates a hold. Thousands of connections may be idle, subscribed or blocked, and to examine each takes as
 * long as a handover: this is done while the engines work. `isSilent`: true if the rest of a client's long
 * request is not waited for.
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
  /** Bytes forwarded of long requests, when the hold began and recently. */
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
    waits: order.waits,
    arranged: order.arranged,
    lately: order.lately,
    waited: order.waited,
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

/** Waits until all are quiet, the hold has `ended`, or `withinMs` have passed. */
async function untilTold(
  waiting: (() => void)[],
  ended: Promise<void>,
  withinMs: number,
  lookAtClients: () => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.push(resolve)
  const end = setTimeout(resolve, withinMs)
  // Repeated: a client that stops reading later does not announce it. After a stall of this thread, arrived
  // bytes are read first.
  const clients = setInterval(() => setImmediate(lookAtClients), PATIENCE_MS)
  await Promise.race([promise, ended])
  clearTimeout(end)
  clearInterval(clients)
}

/** Connections that may not be quiet yet. Examined in turn: all for each reply would be quadratic. */
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
    /** True if each is quiet or `isGivenUp`. */
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
 * Reads engines although their clients do not read, within the limits of kept replies: this shows when all
 * requests of these clients are executed.
 */
function createReading() {
  const read = new Set<Connection>()
  return {
    readOn(connections: readonly Connection[]) {
      for (const each of connections) {
        const { link } = each
        if (read.has(each) || link === null || !isUnread(each) || !mayBeUnexecuted(link)) continue
        read.add(each)
        each.move.readsOn += 1
        steerLink(each)
      }
    },
    end() {
      for (const each of read) {
        each.move.readsOn -= 1
        steerLink(each)
      }
    },
  }
}

/** The order of moving, made while the hold waits and corrected for clients with new requests. */
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

/** Returns the obstacle, undefined if clients delay only themselves. `before`: forwarded at the start. */
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

/** True if the connection forwards enough of a long request, tied to its engine, to wait for it. */
function isSending(connection: Connection, before: ReadonlyMap<Connection, number>): boolean {
  const forwarded = forwardedBytes(connection) - (before.get(connection) ?? 0)
  return isTied(connection) && forwarded >= LONGEST_BEGUN_BYTES
}

function forwardedBy(connections: readonly Connection[]): ReadonlyMap<Connection, number> {
  return new Map(connections.map((each) => [each, forwardedBytes(each)]))
}

/** True if it waits only for its client to read. */
function isUnread(connection: Connection): boolean {
  return connection.client.writableNeedDrain && !isTied(connection)
}

/** Returns the hold's wait for replies in ms. Default: half of the hold. */
export function drainOf(times: { readonly deadlineMs: number; readonly drainMs?: number }): number {
  return times.drainMs ?? Math.ceil(times.deadlineMs / 2)
}
