import { isBetweenReplies } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import type { Link } from '../connection/link.ts'
import { strikeOut } from '../connection/noted.ts'
import { isTied } from '../connection/under-way.ts'
import { headOf } from './deliver-replies.ts'
import { takeUnread } from './take-replies.ts'

/** The engine has closed its side. */
export function takeEnd(connection: Connection, link: Link): void {
  while (link.unread !== null && connection.mode !== 'closed') takeUnread(connection, link)
  // The question for its last messages is not the client's: without an answer none of them can come any more.
  const isLeft = connection.link === link && connection.mode === 'moving'
  const wasReady = isLeft || link.onOwnAnswered === null
  const tell = link.onOwnAnswered
  link.onOwnAnswered = null
  tell?.('the engine closed the connection')
  if (connection.link !== link || connection.mode === 'closed') return
  takeBack(connection, link)
  // While the proxy's own question about the login is under way, no later request is forwarded: the next engine is asked again.
  // In the middle of a request the connection must end: another engine would execute the rest of it as requests. So must it in the middle
  // of a message: its client would take what the next engine says for the rest.
  const isCut = isTied(connection) || !isBetweenReplies(link.replies)
  const own = isLeft ? link.own : link.proving ? 1 : 0
  const isAsked = link.sent - link.answered > own
  const isQuiet = wasReady && connection.mode !== 'serving' && !isAsked && !isCut
  if (!isQuiet) {
    const isAskedFor = connection.state.isLeaving || connection.clientEnded
    const { protocolError: error } = connection
    const why = error === undefined ? 'its shard closed the connection' : `it has sent no request: ${error}`
    endConnection(connection, undefined, isAskedFor ? undefined : why)
    return
  }
  // Nothing was under way: the next request goes to the engine that has the role then.
  link.socket.destroy()
  connection.link = null
  if (connection.mode !== 'moving') connection.owner.onQuiet(connection)
}

/** Whether the engine has dropped a blocked command at the proxy's request: the link ended without an answer. */
function takeBack(connection: Connection, link: Link): void {
  const head = headOf(link)
  if (!connection.takingBack || !head?.blocks || head.command.cutShort || !isBetweenReplies(link.replies))
    return
  connection.again = { command: head.command, sinceMs: head.sinceMs, keepsLink: false }
  link.answered += 1
  strikeOut(link)
}
