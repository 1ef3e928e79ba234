/**
 * Bytes that arrived in pieces of any number and size. Each byte is copied a few times at most; the memory is
 * less than twice their number, and no chunk is kept.
 */
export interface GatheredBytes {
  length: number
  buffer: Buffer
}

/** Creates an empty one; `gather` adds to it, `takeGathered` empties it. */
export function createGatheredBytes(): GatheredBytes {
  return { length: 0, buffer: none }
}

const none = Buffer.alloc(0)

/** Copies `piece` to the end: the caller may reuse its memory. */
export function gather(gathered: GatheredBytes, piece: Buffer): void {
  const { buffer, length } = gathered
  const needed = length + piece.length
  if (needed > buffer.length) {
    // The first piece is usually the only one.
    gathered.buffer = Buffer.allocUnsafe(length === 0 ? needed : Math.max(needed, 2 * buffer.length))
    buffer.copy(gathered.buffer, 0, 0, length)
  }
  piece.copy(gathered.buffer, length)
  gathered.length = needed
}

/** Returns and removes all bytes. */
export function takeGathered(gathered: GatheredBytes): Buffer {
  const bytes = gathered.buffer.subarray(0, gathered.length)
  gathered.buffer = none
  gathered.length = 0
  return bytes
}
