import { gather, stopKeeping, takeGathered } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { countKept, keptOfRequest, SMALL_BYTES } from '../connection/kept-transactions.ts'
import type { Link } from '../connection/link.ts'
import { isScan } from '../remembered/scan-cursors.ts'
import { keepForBarrier, mayPublish } from './wait-for-publish-barrier.ts'

/**
 * As much of a request is kept until it is whole, so that it can go to whichever engine has the role by then. A longer one is
 * forwarded as it comes. More than engines take from a client that has not logged in: a stranger cannot hold up a handover.
 */
export const LONGEST_BEGUN_BYTES = 64 * 1024

/** Of a read whose whole requests were looked at: what was not sent begins at `from`, what is no whole request at `at`. */
export interface Rest {
  readonly chunk: Buffer
  readonly from: number
  readonly at: number
  /** The read began in the middle of a request of which a part is forwarded. */
  readonly goesOn: boolean
}

/** Forwards what is left of a read, and keeps the beginning of a request until it is whole, unless it is a long one. */
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
    send(connection, link, chunk.subarray(from))
    return
  }
  send(connection, link, chunk.subarray(from, at))
  // A scan is replaced by another request: once its name is known, the scanner has everything that is needed.
  if (at < chunk.length && !(isOfScan && begun.length > 0)) gather(begun, chunk.subarray(at))
}

/** Also of a command that is in no transaction, much may be kept: of each of thousands of connections. */
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
