import { gather, stopKeeping, takeGathered } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { addToPart, beginPart } from '../connection/keep-part.ts'
import { countKept, keptOfRequest, SMALL_BYTES } from '../connection/kept-transactions.ts'
import type { Link } from '../connection/link.ts'
import { isScan } from '../remembered/scan-cursors.ts'
import { keepForBarrier, mayNeedSubscribers } from './wait-for-publish-barrier.ts'

/**
 * Longest request that is kept until complete, so that it can go to the engine that is primary then. A longer
 * one is forwarded on arrival, and kept up to a limit (keep-part.ts). Engines accept less from a client
 * without login, so an unauthenticated client cannot delay a handover.
 */
export const LONGEST_BEGUN_BYTES = 64 * 1024

/** A read with its complete requests examined: unsent from `from`, the incomplete request from `at`. */
export interface Rest {
  readonly chunk: Buffer
  readonly from: number
  readonly at: number
  /** True if the read began in the middle of a partly forwarded request. */
  readonly goesOn: boolean
}

/** Forwards the rest of a read; keeps the beginning of a short request until it is complete. */
export function forwardRest(connection: Connection, link: Link, { chunk, from, at, goesOn }: Rest): void {
  const {
    owner,
    input: { requests, begun },
  } = connection
  const unwhole = chunk.length - at + (at === 0 ? begun.length : 0)
  const isOfScan = requests.command !== undefined && isScan(requests.command)
  const beginsLong = !(goesOn && at === 0) && unwhole > LONGEST_BEGUN_BYTES
  if (
    beginsLong &&
    ((owner.barrier.isOn && mayNeedSubscribers(connection)) || (owner.gate.isClosed && !isOfScan))
  ) {
    if (at > 0) send(connection, link, chunk.subarray(from, at))
    keepForBarrier(connection, chunk, at)
    return
  }
  boundKept(connection)
  if (((goesOn && at === 0) || beginsLong) && !isOfScan) {
    if (!beginsLong) addToPart(connection, chunk)
    else
      beginPart(connection, at > 0 ? [chunk.subarray(at)] : [begun.buffer.subarray(0, begun.length), chunk])
    send(connection, link, chunk.subarray(from))
    return
  }
  send(connection, link, chunk.subarray(from, at))
  // A scan is replaced by another request: once its name is known, the scanner keeps what is needed.
  if (at < chunk.length && !(isOfScan && begun.length > 0)) gather(begun, chunk.subarray(at))
}

/** Sends the bytes before `begin` and keeps the rest. */
export function keepFrom(
  connection: Connection,
  link: Link,
  read: {
    readonly chunk: Buffer
    readonly from: number
    readonly begin: number
    readonly keep: (connection: Connection, chunk: Buffer, begin: number) => void
  },
): void {
  const { chunk, from, begin, keep } = read
  if (begin > 0) send(connection, link, chunk.subarray(from, begin))
  keep(connection, chunk, begin)
}

/** Also counts commands outside of transactions: each of thousands of connections may have a large one. */
function boundKept(connection: Connection): void {
  const {
    input: { requests },
    session: { keptBytes },
  } = connection
  const isMuch = keptOfRequest(requests) > SMALL_BYTES
  if (!requests.keepAll && !isMuch && keptBytes === 0) return
  if (countKept(connection) || !isMuch) return
  stopKeeping(requests)
  countKept(connection)
}

/** Sends bytes after the kept beginning of their request. Pauses a client that is faster than the engine. */
export function send({ client, input: { begun } }: Connection, link: Link, bytes: Buffer): void {
  const { socket } = link
  if (bytes.length === 0) return
  if (begun.length === 0) {
    if (!socket.write(bytes)) client.pause()
    return
  }
  socket.cork()
  socket.write(takeGathered(begun))
  if (!socket.write(bytes)) client.pause()
  socket.uncork()
}
