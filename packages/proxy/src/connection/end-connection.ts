import { forgetListed } from '../traffic/listed-bytes.ts'
import { endUnread, UNREAD } from '../traffic/watch-unread.ts'
import type { Connection } from './connection.ts'
import { dropPart } from './keep-part.ts'
import { countSubscribed } from './kept-subscriptions.ts'
import { countKept } from './kept-transactions.ts'
import { forgetLate } from './steer-client.ts'

/**
 * Ends the connection after the client has received everything, with a last error if given. `why`: for the
 * log; '' if the client closed.
 */
export function endConnection(connection: Connection, error?: string, why = error): void {
  if (connection.mode === 'closed') return
  if (error !== undefined) connection.client.write(`-${error}\r\n`)
  close(connection, why)
  if (error === UNREAD) endUnread(connection.client)
  else connection.client.destroySoon()
}

/** Like endConnection, when no engine was reached: requests that wait for a link were not executed. */
export function endUnreached(connection: Connection, error: string, why: string): void {
  connection.isUnreached = true
  endConnection(connection, error, why)
}

/** Closes the connection immediately. `why`: see endConnection. */
export function dropConnection(connection: Connection, why?: string): void {
  if (connection.mode === 'closed') return
  close(connection, why)
  connection.client.destroy()
}

function close(connection: Connection, why = ''): void {
  const { link } = connection
  connection.cutBecause = why
  if (why !== '') connection.owner.onCut(connection)
  connection.mode = 'closed'
  connection.link = null
  connection.input.stash = []
  connection.input.stashBytes = 0
  dropPart(connection)
  countKept(connection)
  countSubscribed(connection)
  forgetLate(connection)
  forgetListed(connection.session)
  link?.onOwnAnswered?.('the connection was closed')
  link?.onWhole?.()
  link?.socket.destroy()
  connection.move.prepared?.link.socket.destroy()
  connection.move.prepared?.leave()
  connection.owner.onClosed(connection)
}
