import { MOST_ASIDE_BYTES } from '../connection/allowance.ts'
import type { Connection } from '../connection/connection.ts'
import type { Link } from '../connection/link.ts'
import { steerLink } from '../connection/steer-client.ts'
import { takeSome } from './deliver-replies.ts'
import { inTurn } from './turns.ts'

/** Bytes of an engine: they go to the client unchanged, except replies to the proxy's own requests, and replies that it replaces. */
export function takeReplies(connection: Connection, link: Link, bytes: Buffer): void {
  if (link.unread !== null) {
    setRepliesAside(connection, link, bytes)
    return
  }
  const end = takeSome(connection, link, bytes)
  if (end < bytes.length) setRepliesAside(connection, link, bytes.subarray(end))
}

/** It has had its turn, or it is not the turn of its endpoint: its replies wait until others have had their turns. */
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

/** Takes the replies that were set aside on a link while its connection could not take them. */
export function takeUnread(connection: Connection, link: Link): void {
  const { unread } = link
  link.unread = null
  if (unread !== null && connection.mode !== 'closed') takeReplies(connection, link, unread)
}
