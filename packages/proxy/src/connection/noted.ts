import type { Command } from '../remembered/command.ts'
import { sizeOf } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'
import type { Link, Noted } from './link.ts'

/**
 * Limit of noted bytes on a link: some 64,000 requests. Above it the client is not read until some are
 * answered; a client that reads its replies does not notice.
 */
const LARGEST_NOTED_BYTES = 16 * 1024 * 1024
/** Limit for all links of a thread, across endpoints. */
const MOST_BYTES = 128 * 1024 * 1024
/** Guaranteed to each link at the thread's limit: clients with few requests are not affected by others. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }
/** Cost of a note in addition to its command. */
export const NOTED_ALONE = 192
/** Limit of outstanding replies for a client that does not read. The engine keeps them. */
const MOST_UNREAD = 1_048_576

/** Notes a request whose reply is examined, and counts its cost. */
export function takeDown(link: Link, noted: Noted): void {
  countNoted(link, noted.costs)
  link.noted.push(noted)
}

/** Adds `bytes` (may be negative) to the link's noted bytes. */
export function countNoted(link: Link, bytes: number): void {
  link.notedBytes += bytes
  if (!link.forgotten) thread.bytes += bytes
}

/** Called when the link is closed: its noted bytes are no longer counted. */
export function forgetNoted(link: Link): void {
  if (!link.forgotten) thread.bytes -= link.notedBytes
  link.forgotten = true
}

/** Returns the cost of a command while it is noted. */
export function costsOf(command: Noted['command']): number {
  return sizeOf(command) + NOTED_ALONE
}

/** Drops the oldest note: its request is answered. */
export function dropNote(link: Link): void {
  countNoted(link, -(link.noted.shift()?.costs ?? 0))
}

/** True if too many replies are pending to read more from the client. */
export function hasManyPendingReplies({ client }: Pick<Connection, 'client'>, link: Link): boolean {
  if (link.notedBytes > (thread.bytes > MOST_BYTES ? SMALL_BYTES : LARGEST_NOTED_BYTES)) return true
  return link.sent - link.answered > MOST_UNREAD && client.writableNeedDrain
}

/** Creates a note for the client's last sent request. `costs`: from `costsOf`, which visits each argument. */
export function noted(link: Link, command: Command, costs: number = costsOf(command)): Noted {
  return {
    at: link.sent,
    command,
    isOwn: false,
    must: false,
    nilInstead: false,
    answer: null,
    blocks: false,
    script: undefined,
    proves: false,
    keptBytes: 0,
    costs,
    channels: null,
    confirmed: 0,
    sinceMs: performance.now(),
  }
}

/** Notes a request of the proxy, about to be sent, with one reply. */
export function noteOwn(link: Link, must: boolean): void {
  link.sent += 1
  link.own += 1
  takeDown(link, { ...noted(link, nothing), isOwn: true, must })
}

/** Placeholder for a command that need not be kept. */
export const nothing: Command = { name: '', args: [], cutShort: false }
