import type { Command } from '../remembered/command.ts'
import { sizeOf } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'
import type { Link, Noted } from './link.ts'

/**
 * What may be noted of requests that are under way on a link: some 4,000 of them. No more is taken of a client before some are
 * answered; a client that reads its replies does not notice.
 */
const LARGEST_NOTED_BYTES = 1024 * 1024
/** The same of all links of a thread, whichever endpoint they belong to. */
const MOST_BYTES = 128 * 1024 * 1024
/** Beyond, each link may have so much: a client that has less under way does not notice what others do. */
const SMALL_BYTES = 64 * 1024
const thread = { bytes: 0 }
/** What is noted costs so much beside the command. */
export const NOTED_ALONE = 192
/** How many replies may be outstanding for a client that does not read. */
export const MOST_UNREAD = 65_536

/** Adds a request to those of a link whose replies are looked into, and its costs to what these take. */
export function takeDown(link: Link, noted: Noted): void {
  countNoted(link, noted.costs)
  link.noted.push(noted)
}

/** What is noted of a link takes so much more, or less. */
export function countNoted(link: Link, bytes: number): void {
  link.notedBytes += bytes
  if (!link.forgotten) thread.bytes += bytes
}

/** The link is closed: what is still noted of it goes with it. */
export function forgetNoted(link: Link): void {
  if (!link.forgotten) thread.bytes -= link.notedBytes
  link.forgotten = true
}

/** What a command costs as long as it is noted. */
export function costsOf(command: Noted['command']): number {
  return sizeOf(command) + NOTED_ALONE
}

/** The oldest is answered. */
export function strikeOut(link: Link): void {
  countNoted(link, -(link.noted.shift()?.costs ?? 0))
}

/** So many requests are under way that the client is not read any more. */
export function hasManyPendingReplies({ client }: Pick<Connection, 'client'>, link: Link): boolean {
  if (link.notedBytes > (thread.bytes > MOST_BYTES ? SMALL_BYTES : LARGEST_NOTED_BYTES)) return true
  return link.sent - link.answered > MOST_UNREAD && client.writableNeedDrain
}

/** A request of the client that was sent last, as it is taken down. */
export function noted(link: Link, command: Command): Noted {
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
    costs: costsOf(command),
    channels: null,
    confirmed: 0,
    sinceMs: performance.now(),
  }
}

/** A request of ours is about to be sent, that has one reply. */
export function noteOwn(link: Link, must: boolean): void {
  link.sent += 1
  link.own += 1
  takeDown(link, { ...noted(link, nothing), isOwn: true, must })
}

/** In place of a command of which nothing needs to be kept. */
export const nothing: Command = { name: '', args: [], cutShort: false }
