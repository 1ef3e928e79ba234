import { MOST_ASIDE_BYTES } from '../connection/allowance.ts'
import type { Connection } from '../connection/connection.ts'
import type { Link } from '../connection/link.ts'
import { steerLink } from '../connection/steer-client.ts'
import { takeSome } from './deliver-replies.ts'
import { inTurn } from './turns.ts'

/** Passes an engine's bytes to the client, except replies to the proxy's requests, and replaced replies. */
export function takeReplies(connection: Connection, link: Link, bytes: Buffer): void {
  if (link.unread !== null) {
    setRepliesAside(connection, link, bytes)
    return
  }
  const end = takeSome(connection, link, bytes)
  if (end < bytes.length) setRepliesAside(connection, link, bytes.subarray(end))
}

/** Postpones replies: its turn is over, or it is not its endpoint's turn. */
export function setRepliesAside(connection: Connection, link: Link, bytes: Buffer): void {
  const { unread } = link
  link.unread = unread === null ? bytes : Buffer.concat([unread, bytes])
  if (link.unread.length > MOST_ASIDE_BYTES) link.socket.pause()
  if (unread !== null) return
  inTurn(connection.owner.allowance, 'takes replies again for', connection.visitor.crumb, () => {
    takeUnread(connection, link)
    if (link.unread !== null) return
    if (connection.link === link) steerLink(connection)
    else if (link.own > 0) link.socket.resume() // the link is being made ready
  })
}

/** Takes replies that were postponed on a link. */
export function takeUnread(connection: Connection, link: Link): void {
  const { unread } = link
  link.unread = null
  if (unread !== null && connection.mode !== 'closed') takeReplies(connection, link, unread)
}
