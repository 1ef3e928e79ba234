/** So many, and one more for each so many bytes. An ordinary sender's have some KB. */
const FREE_PIECES = 4_096
const BYTES_OF_PIECE = 64

/**
 * Counts the pieces of a body of HTTP. The function that is returned takes the length of the next one, and says whether they are too many for their length: a chunk can be one byte, so 64 KB
 * are up to 11,000 pieces, and each costs as much time and memory as an ordinary one.
 */
export function countPieces(): (bytes: number) => boolean {
  let left = FREE_PIECES
  return (bytes) => {
    left += bytes / BYTES_OF_PIECE - 1
    return left < 0
  }
}
