import type { Connection } from './connection.ts'

/** The most bytes kept of the channels of one connection: some 300,000 names. A connection with more is closed, with an error that says so. */
export const LARGEST_SUBSCRIBED_BYTES = 64 * 1024 * 1024
/** The same for all connections of a thread, whichever endpoint they belong to. */
const MOST_BYTES = 256 * 1024 * 1024
/** Each connection may always have this much (some 400 names), even if the thread's limit is reached. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

/** Counts the bytes kept of the channels that a connection is subscribed to. False: there is no room for them. */
export function countSubscribed(connection: Connection): boolean {
  const bytes = connection.mode === 'closed' ? 0 : connection.state.subscribedBytes
  thread.bytes += bytes - connection.countedBytes
  connection.countedBytes = bytes
  return bytes <= SMALL_BYTES || (bytes <= LARGEST_SUBSCRIBED_BYTES && thread.bytes <= MOST_BYTES)
}
