import { afterQueueing, afterRefusal } from '../remembered/after-command.ts'
import { afterAssumed } from '../remembered/assumed.ts'
import type { Command } from '../remembered/command.ts'
import { isBlocking, isMisformed, subscriptions } from '../remembered/commands.ts'
import { isNested } from '../remembered/connection-state.ts'
import { sizeOf } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'
import { isQueuedIn } from './is-queued-in.ts'
import { countKept } from './kept-transactions.ts'
import type { Link } from './link.ts'
import { makeUnmovable } from './look-ahead.ts'
import { costsOf, countNoted, NOTED_ALONE } from './noted.ts'

/** Called for a command without a reply: it counts as executed when the requests before it are answered. */
export function assumeSuccess(connection: Connection, link: Link, command: Command): void {
  const { inTransaction } = connection.session.ahead
  // Commands sent before a transaction are proven before it starts (silent-transactions.ts); queued commands
  // need no proof.
  if (!inTransaction) {
    link.unproven = true
    link.unanswered.lastAfter = link.sent
  }
  if (!inTransaction && (command.name in subscriptions || isBlocking(command))) {
    const why = `${command.name} without a reply`
    makeUnmovable(connection, { code: 'without_reply', command: command.name, why })
  }
  // It changes nothing unless it is noted, or part of a transaction.
  if (command.name === '') return
  const keptBytes = inTransaction ? sizeOf(command) : 0
  connection.session.underWayBytes += keptBytes
  const costs = keptBytes > 0 ? NOTED_ALONE : costsOf(command)
  countNoted(link, costs)
  link.unanswered.waiting.push({ after: link.sent, command, keptBytes, costs })
  countUnanswered(connection, link)
}

/**
 * Called when a request was answered or none is pending: earlier commands without a reply count as executed.
 */
export function countUnanswered(connection: Connection, link: Link): void {
  if (link.unproven && link.answered > link.unanswered.lastAfter) link.unproven = false
  const { waiting } = link.unanswered
  for (let next = waiting.first(); next !== undefined; next = waiting.first()) {
    if (next.after > link.answered) return
    waiting.shift()
    countNoted(link, -next.costs)
    connection.session.underWayBytes -= next.keptBytes
    connection.session.state = afterSilence(connection, next.command)
    countKept(connection)
  }
}

function afterSilence(connection: Connection, command: Command): Connection['session']['state'] {
  const {
    session: { state },
  } = connection
  if (isQueuedIn(connection, command)) return afterQueueing(state, command, !isMisformed(command))
  return isNested(state, command) ? afterRefusal(state, command) : afterAssumed(state, command)
}
