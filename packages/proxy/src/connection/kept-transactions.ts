import { withoutQueued } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'

/** A larger transaction is not kept: if its connection moves before EXEC, EXEC answers EXECABORT. */
export const LARGEST_TRANSACTION_BYTES = 16 * 1024 * 1024
/** Limit for all connections of a thread, across endpoints. */
const MOST_BYTES = 128 * 1024 * 1024
/** Guaranteed to each connection, even at the thread's limit. */
export const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

/**
 * Counts the bytes kept for the command that is being read and for transactions, pending and queued. Returns
 * false if there is no room.
 */
export function countKept(connection: Connection): boolean {
  const {
    input: { requests },
    session: { underWayBytes, state },
  } = connection
  const reading = keptOfRequest(requests)
  const bytes = connection.mode === 'closed' ? 0 : reading + underWayBytes + (state.transaction?.bytes ?? 0)
  thread.bytes += bytes - connection.session.keptBytes
  connection.session.keptBytes = bytes
  return bytes <= SMALL_BYTES || (bytes <= LARGEST_TRANSACTION_BYTES && thread.bytes <= MOST_BYTES)
}

/** Bytes of the request read now or last. The copy that is kept of it is counted separately. */
export function keptOfRequest({ keptBytes, part }: Connection['input']['requests']): number {
  return keptBytes + part.length
}

/** Drops the queued commands for lack of room. */
export function dropQueued(connection: Connection): void {
  const {
    session: { state },
  } = connection
  if (state.transaction === null || state.transaction.bytes === 0) return
  connection.session.state = { ...state, transaction: withoutQueued(state.transaction) }
  countKept(connection)
}
