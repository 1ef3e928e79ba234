import type { Link } from './link.ts'

/** The most bytes of messages that arrive on a link before its connection uses it: as much as an engine keeps for a client that does not read. */
export const LARGEST_EARLY_BYTES = 8 * 1024 * 1024
/** The same for all links of a thread, whichever endpoint they belong to. */
const MOST_BYTES = 128 * 1024 * 1024
/** Each link may always have this much, even if the thread's limit is reached. */
const SMALL_BYTES = 64 * 1024
/** The overhead of a piece: an engine may send single bytes. */
const PIECE_BYTES = 128
const thread = { bytes: 0 }

/**
 * Counts a piece that arrived on a link that is being made ready. False: there is no room for it, and the link is closed, as if its
 * engine had ended it.
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

/** The link belongs to its connection now, or is closed: its bytes are not counted any more. */
export function forgetEarly(link: Link): void {
  thread.bytes -= link.earlyBytes
  link.earlyBytes = 0
  if (link.socket.destroyed && link.early !== null) link.early = []
}
