import { isBetweenReplies } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import type { Link } from '../connection/link.ts'
import { dropNote } from '../connection/noted.ts'
import { isTied } from '../connection/under-way.ts'
import { headOf } from './deliver-replies.ts'
import { takeUnread } from './take-replies.ts'

/** Handles the end of the engine's side. */
export function takeEnd(connection: Connection, link: Link): void {
  while (link.unread !== null && connection.mode !== 'closed') takeUnread(connection, link)
  // The probe for the last messages is the proxy's: without an answer, no more messages can come.
  const isLeft = connection.link === link && connection.mode === 'moving'
  const wasReady = isLeft || link.onOwnAnswered === null
  const tell = link.onOwnAnswered
  link.onOwnAnswered = null
  tell?.('the engine closed the connection')
  if (connection.link !== link || connection.mode === 'closed') return
  takeBack(connection, link)
  // The connection must end within a request (another engine would execute the rest as requests) or within a
  // message (the client would take other output for the rest). An open login probe is repeated at the next
  // engine.
  const isCut = isTied(connection) || !isBetweenReplies(link.replies)
  const own = isLeft ? link.own : link.proving ? 1 : 0
  const isAsked = link.sent - link.answered > own
  const isQuiet = wasReady && connection.mode !== 'serving' && !isAsked && !isCut
  if (!isQuiet) {
    const isAskedFor = connection.session.state.isLeaving || connection.input.clientEnded
    const {
      input: { protocolError: error },
    } = connection
    const why = error === undefined ? 'its shard closed the connection' : `it has sent no request: ${error}`
    endConnection(connection, undefined, isAskedFor ? undefined : why)
    return
  }
  // Nothing was pending: the next request goes to the engine that is primary then.
  link.socket.destroy()
  connection.link = null
  if (connection.mode !== 'moving') connection.owner.onQuiet(connection)
}

/** If the engine has dropped a blocked command at the proxy's request, keeps the command to be sent again. */
function takeBack(connection: Connection, link: Link): void {
  const head = headOf(link)
  if (
    !connection.move.takingBack ||
    !head?.blocks ||
    head.command.cutShort ||
    !isBetweenReplies(link.replies)
  )
    return
  connection.session.again = { command: head.command, sinceMs: head.sinceMs, keepsLink: false }
  link.answered += 1
  dropNote(link)
}
