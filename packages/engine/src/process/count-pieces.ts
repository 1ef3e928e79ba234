/** Free pieces, and bytes for each further one. Those of an ordinary sender have some KB. */
const FREE_PIECES = 4_096
const BYTES_OF_PIECE = 64

/**
 * Counts the pieces of an HTTP body. The returned function takes the next one's length; true if there are too
 * many for their length. A chunk may have one byte, so 64 KB are up to 11,000 pieces, each as expensive as an
 * ordinary one.
 */
export function countPieces(): (bytes: number) => boolean {
  let left = FREE_PIECES
  return (bytes) => {
    left += bytes / BYTES_OF_PIECE - 1
    return left < 0
  }
}
