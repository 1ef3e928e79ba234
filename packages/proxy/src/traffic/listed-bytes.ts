/** Limit of the lists (CLIENT LIST) of a thread that are not sent, or not read yet. */
const MOST_BYTES = 64 * 1024 * 1024
/** Guaranteed to each client: a list of some 200 clients. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }

interface Lister {
  /** Bytes of its lists. */
  listedBytes: number
}

/** Counts a list. Returns false, and counts nothing, if there is no room for it. */
export function countListed(lister: Lister, bytes: number): boolean {
  const isSmall = lister.listedBytes + bytes <= SMALL_BYTES
  if (!isSmall && thread.bytes + bytes > MOST_BYTES) return false
  thread.bytes += bytes
  lister.listedBytes += bytes
  return true
}

/** Called when the client has read everything, or is gone. */
export function forgetListed(lister: Lister): void {
  thread.bytes -= lister.listedBytes
  lister.listedBytes = 0
}

/** Answer without room. */
export const TOO_MUCH_LISTED = 'ERR the endpoint keeps too many lists that are not read yet: try again'
