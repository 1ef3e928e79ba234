import { randomBytes } from 'node:crypto'

/** A name that no database has. A test that is tried a second time may find the database of its first try. */
export function freshName(beginning: string): string {
  return `${beginning}-${randomBytes(4).toString('hex')}`
}
