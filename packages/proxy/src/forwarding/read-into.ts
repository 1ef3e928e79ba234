import type { OnReadOpts } from 'node:net'

/** Gets bytes that no other code uses any more. */
export type Take = (bytes: Buffer) => void

/** As much as Node reads at a time. */
const PIECE_BYTES = 64 * 1024

/** One buffer for all sockets of the thread: bytes are copied out before anything else is read. */
const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)

/**
 * Makes a socket read without Node's readable streams, and without a new buffer of that size for each read,
 * of which a reply mostly needs a hundredth: copying it out costs less (measured, bench/README.md). Readers
 * must not keep references into the buffer; bytes that the kernel does not take at once are copied.
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
