import type { Connection } from './connection.ts'

/** Limit of channel names of one connection: some 300,000. A connection with more is closed with an error. */
export const LARGEST_SUBSCRIBED_BYTES = 64 * 1024 * 1024
/** Limit for all connections of a thread, across endpoints. */
const MOST_BYTES = 256 * 1024 * 1024
/** Guaranteed to each connection (some 400 names), even at the thread's limit. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

/** Counts the bytes of the channel names of a connection. Returns false if there is no room for them. */
export function countSubscribed(connection: Connection): boolean {
  const bytes = connection.mode === 'closed' ? 0 : connection.session.state.subscribedBytes
  thread.bytes += bytes - connection.session.countedBytes
  connection.session.countedBytes = bytes
  return bytes <= SMALL_BYTES || (bytes <= LARGEST_SUBSCRIBED_BYTES && thread.bytes <= MOST_BYTES)
}
