import type { Command } from '../remembered/command.ts'
import { subscriptions } from '../remembered/commands.ts'
import { isSubscribed } from '../remembered/connection-state.ts'
import type { Listens } from './ahead.ts'
import type { Connection } from './connection.ts'

/**
 * Called when `command` is forwarded outside of a transaction. It may change the subscriptions; until its
 * answer, that is uncertain.
 */
export function listenAhead(connection: Connection, { name, args }: Command): void {
  const change = subscriptions[name]
  if (change === undefined && name !== 'HELLO' && name !== 'RESET') return
  listensNow(connection)
  const {
    session: { ahead },
  } = connection
  if (change === undefined) {
    ahead.changesProtocol = args.length > 0 || name === 'RESET'
    if (name === 'RESET') ahead.listens = false
    else if (ahead.listens === true) ahead.listens = 'unknown'
  } else if (!change.adds) ahead.listens &&= 'unknown'
  else if (ahead.changesProtocol) ahead.listens = 'unknown'
  else if (connection.session.state.protocol === 2 && args.length > 0) ahead.listens ||= true
}

/** Returns if the client is subscribed, for a command about to be forwarded. */
export function listensNow({ link, session: { ahead, state } }: Connection): Listens {
  if (link !== null && link.sent === link.answered) {
    ahead.listens = state.protocol === 2 && isSubscribed(state)
    ahead.changesProtocol = false
  }
  return ahead.listens
}
