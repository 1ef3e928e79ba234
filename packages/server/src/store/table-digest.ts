import { createHash } from 'node:crypto'

/** Digest of a table, independent of the order of rows and columns. */
export interface TableDigest {
  add(row: Readonly<Record<string, unknown>>): void
  rows(): number
  /** Equal for equal rows. */
  text(): string
}

/** Creates an empty digest. Its memory does not grow with the rows. */
export function createTableDigest(): TableDigest {
  let [rows, sum] = [0, 0n]
  return {
    add(row) {
      const fields = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))
      const hash = createHash('sha256').update(JSON.stringify(fields)).digest('hex')
      rows += 1
      sum += BigInt(`0x${hash}`)
    },
    rows: () => rows,
    text: () => `${rows} ${sum.toString(16)}`,
  }
}
