import { isBetweenReplies } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import type { Link } from '../connection/link.ts'
import { probe } from '../connection/send-own.ts'
import { leaveSilently } from '../connection/silent-transactions.ts'
import { mayReadOn, steerLink } from '../connection/steer-client.ts'
import { takeUnread } from '../forwarding/take-replies.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import { ownAnswered } from './open-link.ts'

/** How long an engine may send nothing at all while its last messages are taken. */
export const LAST_MESSAGES_MS = 1_000

/**
 * A subscriber may have messages on their way from its former engine: they come before those of the next one. They are read also if the client
 * does not read: until it does, the proxy keeps them. A client for which it cannot keep all of them is closed.
 */
export async function takeLastMessages(connection: Connection): Promise<void> {
  const { link, state } = connection
  if (link === null || link.socket.destroyed || !isSubscribed(state) || connection.again !== null) return
  leaveSilently(connection, link)
  await readingOn(connection, async () => {
    if (!(await isProven(connection, link)) && !mayReadOn(connection))
      endConnection(connection, undefined, 'its client has not read its messages, and they are too many')
  })
}

/** Whether the engine has answered a question, and so has sent everything before. False: it is gone, or was silent for long. */
async function isProven(connection: Connection, link: Link): Promise<boolean> {
  for (let ask = () => probe(connection, link); ; ask = () => undefined) {
    const before = link.socket.bytesRead
    try {
      await ownAnswered(link, LAST_MESSAGES_MS, ask)
      return true
    } catch {
      if (link.socket.destroyed || link.socket.bytesRead === before) return false
    }
  }
}

/**
 * The client may have a part of a message of its former engine, also without a subscription, if it tracks keys. It gets the rest, and what the
 * proxy has set aside, before anything of the next engine; if the rest does not come, the connection ends.
 */
export async function endLastMessage(connection: Connection): Promise<void> {
  const { link } = connection
  if (link === null) return
  while (link.unread !== null && connection.mode !== 'closed') takeUnread(connection, link)
  if (connection.mode === 'closed' || isBetweenReplies(link.replies)) return
  await readingOn(connection, async () => {
    if (!(await isWhole(link)))
      endConnection(connection, undefined, 'its former shard has not sent the rest of a message')
  })
}

async function isWhole(link: Link): Promise<boolean> {
  for (;;) {
    const before = link.socket.bytesRead
    await nextEnd(link)
    if (isBetweenReplies(link.replies)) return true
    if (link.socket.destroyed || link.socket.bytesRead === before) return false
  }
}

/** Waits for the end of a message. */
async function nextEnd(link: Link): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, LAST_MESSAGES_MS)
  link.onWhole = resolve
  await promise
  clearTimeout(timer)
  link.onWhole = null
}

/** Reads the engine also if the client does not read, as long as `act` lasts. */
async function readingOn(connection: Connection, act: () => Promise<void>): Promise<void> {
  connection.takesLast = true
  steerLink(connection)
  await act()
  connection.takesLast = false
}
