import { encodeCommand } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'

const nothing = Buffer.alloc(0)
const ping = encodeCommand(['PING'])

/**
 * The replacement of an empty request. An empty line or array ends a CLIENT REPLY SKIP, except at redis 8.0: a PING is sent
 * instead, and its reply is skipped by every build. A line of blanks does not end it at valkey: it is not sent. Null: the request
 * is sent unchanged.
 */
export function insteadOfNothing({ ahead, requests }: Connection): Buffer | null {
  if (requests.instead !== null) return nothing
  if (!ahead.skipsNext) return null
  ahead.skipsNext = false
  return ping
}
