import { createHash } from 'node:crypto'

/** What a table holds, whatever the order of its rows and columns. */
export interface TableDigest {
  add(row: Readonly<Record<string, unknown>>): void
  rows(): number
  /** The same for the same rows. */
  text(): string
}

/** Of no rows yet. It takes the same memory for any number of them. */
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
