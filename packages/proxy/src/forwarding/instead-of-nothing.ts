import { encodeCommand } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'

const nothing = Buffer.alloc(0)
const ping = encodeCommand(['PING'])

/**
 * For what asks for nothing. An empty line or array ends a CLIENT REPLY SKIP, but at redis 8.0: a PING goes in its place, whose reply is the
 * one that is skipped, at every build. A line of blanks does not end it at valkey: it does not go. Null: it goes as it is.
 */
export function insteadOfNothing({ ahead, requests }: Connection): Buffer | null {
  if (requests.instead !== null) return nothing
  if (!ahead.skipsNext) return null
  ahead.skipsNext = false
  return ping
}
