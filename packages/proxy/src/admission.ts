import { readFileSync } from 'node:fs'

/** How many connections this process may have at a time, and has. */
export interface Admission {
  open: number
  /** Links that stand ready at engines which are about to have a role, beside those in use: a file each. */
  prepared: number
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
  return { open: 0, prepared: 0, most: Math.max(16, Math.floor((files - RESERVED_FILES) / 2)) }
}

/** Whether one more link may be made ready: half of the files that are free are for those who come. */
export function mayPrepare({ open, prepared, most }: Admission): boolean {
  return prepared < most - open
}
