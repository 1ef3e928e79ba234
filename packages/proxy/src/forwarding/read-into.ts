import type { OnReadOpts } from 'node:net'

/** Receives bytes that no other code uses any more. */
export type Take = (bytes: Buffer) => void

/** Node's read size. */
const PIECE_BYTES = 64 * 1024

/** One buffer for all sockets of the thread: bytes are copied out before the next read. */
const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)

/**
 * Makes a socket read into one shared buffer, without Node's readable streams and without a buffer for each
 * read. A reply mostly needs a hundredth of it, so that a copy is cheaper (measured, bench/README.md).
 * Readers must not keep references into the buffer.
 */
export function readInto(take: Take): OnReadOpts {
  return {
    buffer: piece,
    callback(length) {
      take(Buffer.from(piece.subarray(0, length)))
      return true
    },
  }
}
