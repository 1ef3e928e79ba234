import type { Link } from './link.ts'

/**
 * Limit of messages that arrive on a link before its connection uses it: the engines' limit for a client that
 * does not read.
 */
export const LARGEST_EARLY_BYTES = 8 * 1024 * 1024
/** Limit for all links of a thread, across endpoints. */
const MOST_BYTES = 128 * 1024 * 1024
/** Guaranteed to each link, even at the thread's limit. */
const SMALL_BYTES = 64 * 1024
/** Overhead of a piece: an engine may send single bytes. */
const PIECE_BYTES = 128
const thread = { bytes: 0 }

/**
 * Counts a piece that arrived on a link under preparation. Returns false if there is no room; then closes the
 * link, as if the engine had.
 */
export function mayKeepEarly(link: Link, bytes: number): boolean {
  if (link.socket.destroyed) return false
  const costs = bytes + PIECE_BYTES
  link.earlyBytes += costs
  thread.bytes += costs
  const { earlyBytes } = link
  const hasRoom = earlyBytes <= LARGEST_EARLY_BYTES && thread.bytes <= MOST_BYTES
  if (hasRoom || earlyBytes <= SMALL_BYTES) return true
  link.socket.destroy()
  forgetEarly(link)
  return false
}

/** Called when the connection uses the link, or the link is closed: its bytes are no longer counted. */
export function forgetEarly(link: Link): void {
  thread.bytes -= link.earlyBytes
  link.earlyBytes = 0
  if (link.socket.destroyed && link.early !== null) link.early = []
}
