import { readFileSync } from 'node:fs'

/** How many connections this process may have at a time, and has. */
export interface Admission {
  open: number
  readonly most: number
}

/** For orders, listening ports, and the second link that a connection has while it moves. */
const RESERVED_FILES = 300

/**
 * Each connection takes two files, its client's and its link's. A process that has used up its files could not even be
 * told to hand over, so those that are too many are refused first.
 */
export function createAdmission(): Admission {
  const files = Number(
    /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 1_024,
  )
  return { open: 0, most: Math.max(16, Math.floor((files - RESERVED_FILES) / 2)) }
}
