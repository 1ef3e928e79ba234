/**
 * Bytes that came in pieces. However many and small these are, each byte is copied a few times at most, what is kept is less than twice
 * what came, and nothing of the chunks it came in.
 */
export interface GatheredBytes {
  length: number
  buffer: Buffer
}

/** Empty; `gather` adds to it, `takeGathered` empties it again. */
export function createGatheredBytes(): GatheredBytes {
  return { length: 0, buffer: none }
}

const none = Buffer.alloc(0)

/** Copies `piece` behind what was gathered before: the caller may reuse the memory of `piece`. */
export function gather(gathered: GatheredBytes, piece: Buffer): void {
  const { buffer, length } = gathered
  const needed = length + piece.length
  if (needed > buffer.length) {
    // The first piece is mostly the only one.
    gathered.buffer = Buffer.allocUnsafe(length === 0 ? needed : Math.max(needed, 2 * buffer.length))
    buffer.copy(gathered.buffer, 0, 0, length)
  }
  piece.copy(gathered.buffer, length)
  gathered.length = needed
}

/** All that was gathered; nothing is left. */
export function takeGathered(gathered: GatheredBytes): Buffer {
  const bytes = gathered.buffer.subarray(0, gathered.length)
  gathered.buffer = none
  gathered.length = 0
  return bytes
}
