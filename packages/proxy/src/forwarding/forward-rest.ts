import { gather, stopKeeping, takeGathered } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { addToPart, beginPart } from '../connection/keep-part.ts'
import { countKept, keptOfRequest, SMALL_BYTES } from '../connection/kept-transactions.ts'
import type { Link } from '../connection/link.ts'
import { isScan } from '../remembered/scan-cursors.ts'
import { keepForBarrier, mayPublish } from './wait-for-publish-barrier.ts'

/**
 * A request up to this length is kept until it is complete, so that it can go to the engine that has the role then. A longer one is
 * forwarded as it comes, and what is forwarded is kept up to a bound (keep-part.ts). This is more than engines accept from a client that has not
 * logged in: a stranger cannot delay a handover.
 */
export const LONGEST_BEGUN_BYTES = 64 * 1024

/** A read whose complete requests were examined: the bytes that were not sent begin at `from`, the incomplete request at `at`. */
export interface Rest {
  readonly chunk: Buffer
  readonly from: number
  readonly at: number
  /** True: the read began in the middle of a request of which a part is forwarded. */
  readonly goesOn: boolean
}

/** Forwards the rest of a read, and keeps the beginning of a request until it is complete, unless it is a long one. */
export function forwardRest(connection: Connection, link: Link, { chunk, from, at, goesOn }: Rest): void {
  const { requests, owner, begun } = connection
  const unwhole = chunk.length - at + (at === 0 ? begun.length : 0)
  const isOfScan = requests.command !== undefined && isScan(requests.command)
  const beginsLong = !(goesOn && at === 0) && unwhole > LONGEST_BEGUN_BYTES
  if (beginsLong && ((owner.barrier.isOn && mayPublish(connection)) || (owner.gate.isClosed && !isOfScan))) {
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
  // A scan is replaced by another request: once its name is known, the scanner has everything that is needed.
  if (at < chunk.length && !(isOfScan && begun.length > 0)) gather(begun, chunk.subarray(at))
}

/** Of the bytes read, those before `begin` are sent, the rest waits. */
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

/** Counted also for a command outside of transactions: each of thousands of connections may have a large one. */
function boundKept(connection: Connection): void {
  const { requests, keptBytes } = connection
  const isMuch = keptOfRequest(requests) > SMALL_BYTES
  if (!requests.keepAll && !isMuch && keptBytes === 0) return
  if (countKept(connection) || !isMuch) return
  stopKeeping(requests)
  countKept(connection)
}

/** Sends bytes to the engine, behind the beginning of their request that was kept. A client that sends faster than it is read has to wait. */
export function send({ begun, client }: Connection, link: Link, bytes: Buffer): void {
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
