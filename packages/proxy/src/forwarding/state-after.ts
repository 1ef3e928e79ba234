import { ERROR, isBetweenRequests, KEPT_BYTES } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { isQueuedIn } from '../connection/is-queued-in.ts'
import type { Link, Noted } from '../connection/link.ts'
import {
  afterExec,
  afterQueueing,
  afterRefusal,
  afterSuccess,
  afterTransaction,
} from '../remembered/after-command.ts'
import { isNested } from '../remembered/connection-state.ts'
import { inTransaction } from '../remembered/unmovable.ts'
import { inTurn, isTurnOver } from './turns.ts'

/** Returns the state after the reply to `head`, which the link's scanner has just read. */
export function stateAfter(connection: Connection, link: Link, head: Noted): Connection['session']['state'] {
  const { replies } = link
  const { command } = head
  const worked = replies.type !== ERROR
  const state = withoutRefused(connection.session.state, link, head, worked && !replies.isNil)
  if (isQueuedIn(connection, command)) return afterQueueing(state, command, worked)
  if (command.name === 'EXEC') replies.watched = none
  if (command.name === 'EXEC' && state.transaction !== null)
    return worked && !replies.isNil ? afterExec(state, replies.failed) : afterTransaction(state)
  if (worked) return afterSuccess(state, command)
  if (isNested(state, command)) return afterRefusal(state, command)
  return command.name === 'MULTI' ? withoutTransaction(connection, link) : state
}

const none: readonly number[] = []

/** Restores `unmovable` if a command that binds the connection was refused, or EXEC executed nothing. */
export function withoutRefused(
  state: Connection['session']['state'],
  link: Link,
  { command: { name }, at }: Noted,
  worked: boolean,
): Connection['session']['state'] {
  const { unmovable: obstacle } = state
  if (name === 'EXEC' && obstacle?.code === 'exec_under_way') {
    // Even if the reply looks complete: a cut reply is completed by the bytes of later replies.
    if (worked) return { ...state, unmovable: inTransaction(obstacle.command ?? '') }
    return at === link.cutAt && state.transaction !== null ? { ...state, unmovable: undefined } : state
  }
  const isRefused = !worked && obstacle?.code === 'command' && obstacle.command === name
  return isRefused ? { ...state, unmovable: undefined } : state
}

/** Learns the scripts of a successful request, before the state changes. `isNil`: the reply was nil. */
export function learnScripts(connection: Connection, { command, script }: Noted, isNil: boolean): void {
  const {
    owner,
    session: { state },
  } = connection
  if (script !== undefined) owner.scripts.keep(script)
  else if (command.name === 'EXEC' && isNil) return
  else if (command.name === 'EXEC') {
    const { queued = [], bytes = 0 } = state.transaction ?? {}
    if (owner.scripts.learnLater(queued, bytes)) learnInTurn(connection)
  } else if (!isQueuedIn(connection, command)) owner.scripts.learn(command)
}

function learnInTurn(connection: Connection): void {
  const { owner, visitor } = connection
  inTurn(owner.allowance, 'learns the scripts of', visitor.crumb, () => {
    while (owner.scripts.learnNext()) if (isTurnOver()) return learnInTurn(connection)
  })
}

/** Handles a refused MULTI. If a CLIENT REPLY was sent since, the number of replies is unknown. */
function withoutTransaction(
  { session: { state, ahead }, input: { requests } }: Connection,
  link: Link,
): Connection['session']['state'] {
  if (ahead.cutsReply === 'CLIENT')
    return {
      ...state,
      unmovable: { code: 'reply_count', why: 'CLIENT REPLY behind a MULTI that was refused' },
    }
  if (link.sent > link.answered || !isBetweenRequests(requests)) return state
  ahead.inTransaction = false
  requests.keepAll = false
  requests.keepsMost = KEPT_BYTES
  return state
}
