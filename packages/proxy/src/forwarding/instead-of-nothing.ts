import { encodeCommand } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'

const nothing = Buffer.alloc(0)
const ping = encodeCommand(['PING'])

/**
 * Returns the replacement of an empty request; null if it is sent unchanged. An empty line or array ends a
 * CLIENT REPLY SKIP, except at Redis 8.0, so a PING is sent, whose reply every build skips. A line of blanks
 * does not end it at Valkey: it is not sent.
 */
export function replaceEmptyRequest({ session: { ahead }, input: { requests } }: Connection): Buffer | null {
  if (requests.instead !== null) return nothing
  if (!ahead.skipsNext) return null
  ahead.skipsNext = false
  return ping
}
