import { type Command, wordAt } from '../remembered/command.ts'
import { isMisformed } from '../remembered/commands.ts'
import { mayCutReply } from '../remembered/transaction-state.ts'
import { execUnderWay, type Unmovable } from '../remembered/unmovable.ts'
import type { Connection } from './connection.ts'
import { listenAhead, listensNow } from './listen-ahead.ts'

/** Predicts the effect of `command`, which is being forwarded. */
export function lookAhead(connection: Connection, command: Command): void {
  const {
    session: { ahead },
  } = connection
  if (isMisformed(command)) return
  if (!ahead.inTransaction) listenAhead(connection, command)
  switch (command.name) {
    case 'MULTI':
      if (!ahead.inTransaction) ahead.needsSubscribers = false
      ahead.inTransaction = true
      return
    case 'CLIENT':
    case 'AUTH':
    case 'HELLO':
      if (ahead.inTransaction && mayCutReply(command)) ahead.cutsReply = command.name
      return
    case 'EXEC':
      if (ahead.cutsReply !== '') foreseeCut(connection, ahead.cutsReply)
      endTransaction(connection)
      return
    case 'DISCARD':
    case 'RESET':
      if (command.name === 'RESET') {
        connection.session.watchLost = false
        ahead.silent = false
      }
      endTransaction(connection)
      return
    case 'UNWATCH':
      if (!ahead.inTransaction) connection.session.watchLost = false
      return
    default:
  }
}

/**
 * True if CLIENT REPLY is refused: in RESP2 a subscribed client may not send it. If the subscription is
 * unknown, so is the number of replies.
 */
function isRefusedToListener(connection: Connection): boolean {
  if (connection.session.ahead.inTransaction) return false
  const listens = listensNow(connection)
  if (listens === 'unknown') {
    const why = 'CLIENT REPLY behind a subscription'
    makeUnmovable(connection, { code: 'reply_count', why })
  }
  return listens === true
}

function foreseeCut(connection: Connection, name: string): void {
  const {
    link,
    session: { state },
  } = connection
  if (link !== null) link.cutAt = link.sent + 1
  if (state.unmovable === undefined) makeUnmovable(connection, execUnderWay(name))
}

function endTransaction(connection: Connection): void {
  const {
    session: { ahead },
  } = connection
  if (ahead.inTransaction) connection.session.watchLost = false
  ahead.inTransaction = false
  ahead.cutsReply = ''
}

/** Marks the connection as unmovable, with the reason. */
export function makeUnmovable(connection: Connection, unmovable: Unmovable): void {
  connection.session.state = { ...connection.session.state, unmovable }
}

/**
 * True if `command` gets no reply. Only CLIENT REPLY takes effect without a reply, so it has to be predicted.
 */
export function isUnanswered(connection: Connection, command: Command): boolean {
  const {
    session: { ahead },
  } = connection
  const isSetting = command.name === 'CLIENT' && wordAt(command, 0) === 'REPLY'
  const setting = isSetting && !isRefusedToListener(connection) ? wordAt(command, 1) : ''
  if (setting === 'ON' && !ahead.inTransaction) {
    ahead.silent = false
    ahead.skipsNext = false
    return false
  }
  if (setting === 'OFF' && !ahead.inTransaction) {
    ahead.silent = true
    return true
  }
  if (setting === 'SKIP' && !ahead.inTransaction) {
    ahead.skipsNext = !ahead.silent
    return true
  }
  const isSkipped = ahead.skipsNext
  ahead.skipsNext = false
  return ahead.silent || isSkipped
}
