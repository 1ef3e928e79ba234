import type { Socket } from 'node:net'
import { printRefusal } from '../answer-error.ts'

/** A client that does not read its answer is closed. */
const READ_WITHIN_MS = 1_000
const PLAIN_HERE = 'this port speaks HTTPS: use https://'

/** Explains to a client with plain HTTP that the port speaks HTTPS. */
export function refusePlain(raw: Socket): void {
  raw.resume()
  raw.end(printRefusal(PLAIN_HERE))
  const late = setTimeout(() => raw.destroy(), READ_WITHIN_MS)
  raw.once('close', () => clearTimeout(late))
}
