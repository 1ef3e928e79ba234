import { findCommand } from './command-table.ts'
import type { RequestScanner } from './request-scanner.ts'

/**
 * Returns the position after the request at `from`, if it is complete, valid and not of a command in the
 * scanner's table; else -1, so that it must be read. Most requests are plain, and this takes a tenth of the
 * scanner's time.
 */
export function endOfPlainRequest(scanner: RequestScanner, chunk: Buffer, from: number): number {
  const { length } = chunk
  let at = from + 1
  let bulks = 0
  let byte = chunk[at] ?? 0
  if (byte < ONE || byte > NINE) return -1
  while (byte >= ZERO && byte <= NINE) {
    bulks = bulks * 10 + byte - ZERO
    at += 1
    byte = chunk[at] ?? 0
  }
  if (byte !== CR || chunk[at + 1] !== LF || bulks > MOST_BULKS) return -1
  at += 2
  for (let n = 0; n < bulks; n += 1) {
    if (chunk[at] !== DOLLAR) return -1
    at += 1
    byte = chunk[at] ?? 0
    // Engines accept no leading zero.
    if (byte === ZERO && chunk[at + 1] !== CR) return -1
    let bytes = 0
    while (byte >= ZERO && byte <= NINE && bytes <= length) {
      bytes = bytes * 10 + byte - ZERO
      at += 1
      byte = chunk[at] ?? 0
    }
    if (byte !== CR || chunk[at + 1] !== LF || chunk[at - 1] === DOLLAR) return -1
    at += 2
    if (n === 0 && findCommand(scanner, chunk, at, Math.min(length, at + bytes)) !== undefined) return -1
    at += bytes + 2
    if (at > length) return -1
  }
  return at
}

/** Larger ones are rare, and may exceed the limit. */
const MOST_BULKS = 1_000_000
const DOLLAR = 0x24
const CR = 0x0d
const LF = 0x0a
const ZERO = 0x30
const ONE = 0x31
const NINE = 0x39
