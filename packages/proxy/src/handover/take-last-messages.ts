import { setTimeout as delay } from 'node:timers/promises'
import { isBetweenReplies } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import type { Link } from '../connection/link.ts'
import { probe } from '../connection/send-own.ts'
import { leaveSilently } from '../connection/silent-transactions.ts'
import { mayReadOn, steerLink } from '../connection/steer-client.ts'
import { isTied } from '../connection/under-way.ts'
import { takeUnread } from '../forwarding/take-replies.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { ownAnswered } from './open-link.ts'

/** Longest silence of an engine while its last messages are taken. */
const LAST_MESSAGES_MS = 1_000
/** Multiple of that if it is known to have more for the client. */
const PATIENCE = 5

/**
 * Reads a subscriber's messages from its former engine before those of the next one. They are kept for a
 * client that does not read; if not all can be kept, the client is closed.
 */
export async function takeLastMessages(connection: Connection): Promise<void> {
  const {
    link,
    session: { state },
  } = connection
  if (link === null || link.socket.destroyed || !isSubscribed(state) || connection.session.again !== null)
    return
  leaveSilently(connection, link)
  let ask = () => probe(connection, link)
  const isProven = async () => {
    const question = ask
    ask = () => undefined
    try {
      await ownAnswered(link, LAST_MESSAGES_MS, question)
      return true
    } catch {
      return false
    }
  }
  const isComplete = await takeUntil(connection, link, isProven)
  if (!isComplete && isOwed(connection, link))
    endConnection(connection, undefined, 'it has not read its messages')
}

/**
 * Completes a partly delivered message of the former engine (also of a key tracker without subscription)
 * before anything from the next engine. If the rest does not come, the connection ends.
 */
export async function endLastMessage(connection: Connection): Promise<void> {
  const { link } = connection
  if (link === null) return
  while (link.unread !== null && connection.mode !== 'closed') takeUnread(connection, link)
  if (connection.mode === 'closed' || isBetweenReplies(link.replies)) return
  const isWhole = async () => {
    await nextEnd(link)
    return isBetweenReplies(link.replies)
  }
  if (!(await takeUntil(connection, link, isWhole)))
    endConnection(connection, undefined, 'its former shard has not sent the rest of a message')
}

/** Waits for the end of a message, or for the longest silence. */
async function nextEnd(link: Link): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, LAST_MESSAGES_MS)
  link.onWhole = resolve
  await promise
  clearTimeout(timer)
  link.onWhole = null
}

/**
 * Waits for missing replies of a subscriber, whose client probably does not read. Until it can move nothing
 * is published, because both engines would send it.
 */
export async function takeLastReplies(connection: Connection): Promise<void> {
  const { link } = connection
  if (connection.mode !== 'draining' || link === null || isTied(connection)) return
  await takeUntil(connection, link, async () => {
    const until = performance.now() + LAST_MESSAGES_MS
    while (connection.mode === 'draining' && performance.now() < until) await delay(2)
    return connection.mode !== 'draining'
  })
}

/**
 * Reads the engine, even if the client does not read, until `hasCome` (which waits up to LAST_MESSAGES_MS).
 * False if the engine is gone or silent, or sends more than may be kept.
 */
async function takeUntil(
  connection: Connection,
  link: Link,
  hasCome: () => Promise<boolean>,
): Promise<boolean> {
  connection.move.readsOn += 1
  steerLink(connection)
  let before = link.socket.bytesRead
  try {
    for (let silent = 0; !(await hasCome()); ) {
      const { destroyed, bytesRead } = link.socket
      silent = bytesRead === before ? silent + 1 : 0
      before = bytesRead
      if (destroyed || !mayReadOn(connection) || silent >= (isOwed(connection, link) ? PATIENCE : 1))
        return false
    }
    return true
  } finally {
    connection.move.readsOn -= 1
  }
}

/** True if the engine certainly or very likely has more for the client. */
function isOwed({ client }: Connection, link: Link): boolean {
  return client.writableNeedDrain || !isBetweenReplies(link.replies)
}
