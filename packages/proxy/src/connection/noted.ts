import type { Command } from '../remembered/command.ts'
import { sizeOf } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'
import type { Link, Noted } from './link.ts'

/**
 * The most bytes noted of requests that are under way on a link: some 64,000 of them. No more is read from a client before some are
 * answered; a client that reads its replies does not notice.
 */
const LARGEST_NOTED_BYTES = 16 * 1024 * 1024
/** The same for all links of a thread, whichever endpoint they belong to. */
const MOST_BYTES = 128 * 1024 * 1024
/** When the thread's limit is reached, each link may still have this much: a client with less under way is not affected by others. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }
/** The cost of a note in addition to the command. */
export const NOTED_ALONE = 192
/** How many replies may be outstanding for a client that does not read. The engine keeps them. */
const MOST_UNREAD = 1_048_576

/** Adds a request to those of a link whose replies are looked into, and its costs to what these take. */
export function takeDown(link: Link, noted: Noted): void {
  countNoted(link, noted.costs)
  link.noted.push(noted)
}

/** Adds bytes to what is noted of a link; `bytes` may be negative. */
export function countNoted(link: Link, bytes: number): void {
  link.notedBytes += bytes
  if (!link.forgotten) thread.bytes += bytes
}

/** The link is closed: the bytes still noted of it are not counted any more. */
export function forgetNoted(link: Link): void {
  if (!link.forgotten) thread.bytes -= link.notedBytes
  link.forgotten = true
}

/** The cost of a command as long as it is noted. */
export function costsOf(command: Noted['command']): number {
  return sizeOf(command) + NOTED_ALONE
}

/** The oldest is answered. */
export function strikeOut(link: Link): void {
  countNoted(link, -(link.noted.shift()?.costs ?? 0))
}

/** Whether so many requests are under way that the client is not read any more. */
export function hasManyPendingReplies({ client }: Pick<Connection, 'client'>, link: Link): boolean {
  if (link.notedBytes > (thread.bytes > MOST_BYTES ? SMALL_BYTES : LARGEST_NOTED_BYTES)) return true
  return link.sent - link.answered > MOST_UNREAD && client.writableNeedDrain
}

/** The note of the client's request that was sent last; `costs` as `costsOf` counts them, which looks at each argument. */
export function noted(link: Link, command: Command, costs: number = costsOf(command)): Noted {
  return {
    at: link.sent,
    command,
    isOwn: false,
    must: false,
    nilInstead: false,
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

/** Notes a request of the proxy that is about to be sent and has one reply. */
export function noteOwn(link: Link, must: boolean): void {
  link.sent += 1
  link.own += 1
  takeDown(link, { ...noted(link, nothing), isOwn: true, must })
}

/** In place of a command of which nothing needs to be kept. */
export const nothing: Command = { name: '', args: [], cutShort: false }
