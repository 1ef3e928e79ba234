import type { Connection } from '../connection/connection.ts'
import type { Link } from '../connection/link.ts'
import { steerLink } from '../connection/steer-client.ts'
import { takeSome } from './deliver-replies.ts'
import { hasLookedEnough, hasReadEnough, inTurn } from './turns.ts'

/** Bytes of an engine: they go to the client as they are, but for replies that are ours, or that we know better. */
export function takeReplies(connection: Connection, link: Link, bytes: Buffer): void {
  const { unread } = link
  if (unread !== null) {
    // It was read although it was not to be.
    link.unread = Buffer.concat([unread, bytes])
    return
  }
  const end = takeSome(connection, link, bytes)
  const hasEnough = hasLookedEnough(link.replies) || hasReadEnough(link, bytes)
  if (end < bytes.length || hasEnough) letOthersGo(connection, link, bytes.subarray(end))
}

/** It has had its turn: what it has to say waits until others have had theirs. */
function letOthersGo(connection: Connection, link: Link, unread: Buffer): void {
  link.unread = unread
  link.socket.pause()
  inTurn('takes replies again for', connection.visitor.crumb, () => {
    takeUnread(connection, link)
    if (link.unread !== null) return
    if (connection.link === link) steerLink(connection)
    else if (link.own > 0) link.socket.resume() // it is being made ready
  })
}

/** Takes the replies that were set aside on a link while its connection could not take them. */
export function takeUnread(connection: Connection, link: Link): void {
  const { unread } = link
  link.unread = null
  if (unread !== null && connection.mode !== 'closed') takeReplies(connection, link, unread)
}
