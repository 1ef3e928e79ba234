import { withoutQueued } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'

/** A larger transaction is not kept: if its connection moves while it is open, its EXEC answers EXECABORT. */
export const LARGEST_TRANSACTION_BYTES = 16 * 1024 * 1024
/** The same for all connections of a thread, whichever endpoint they belong to. */
const MOST_BYTES = 128 * 1024 * 1024
/** Each connection may always keep this much, even if the thread's limit is reached. */
export const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

/**
 * Counts what is kept of the command of a connection that is being read and, of its transactions, of those that are under way and those that are
 * queued. Whether there is room for it.
 */
export function countKept(connection: Connection): boolean {
  const { requests, underWayBytes, state } = connection
  const reading = keptOfRequest(requests)
  const bytes = connection.mode === 'closed' ? 0 : reading + underWayBytes + (state.transaction?.bytes ?? 0)
  thread.bytes += bytes - connection.keptBytes
  connection.keptBytes = bytes
  return bytes <= SMALL_BYTES || (bytes <= LARGEST_TRANSACTION_BYTES && thread.bytes <= MOST_BYTES)
}

/** Bytes of the request that is being read, or was read last: they are also counted where the request is kept. */
export function keptOfRequest({ keptBytes, part }: Connection['requests']): number {
  return keptBytes + part.length
}

/** Drops the queued commands: there is no room for them. */
export function dropQueued(connection: Connection): void {
  const { state } = connection
  if (state.transaction === null || state.transaction.bytes === 0) return
  connection.state = { ...state, transaction: withoutQueued(state.transaction) }
  countKept(connection)
}
