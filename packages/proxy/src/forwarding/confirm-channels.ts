import type { Connection } from '../connection/connection.ts'
import type { Link, Noted } from '../connection/link.ts'
import { dropNote } from '../connection/noted.ts'
import { afterSubscription } from '../remembered/after-command.ts'
import { subscriptions } from '../remembered/commands.ts'

/** True if a reply with first element `word` confirms this request, as for (p|s)subscribe and unsubscribe. */
export function isConfirmation({ command }: Noted, word: string): boolean {
  return subscriptions[command.name]?.word === word
}

/** Handles one of several replies: SUBSCRIBE a b is answered twice, and all replies count as one. */
export function confirm(connection: Connection, link: Link, head: Noted): false {
  const { command } = head
  const change = subscriptions[command.name]
  if (change === undefined) return false
  // Without arguments all channels are removed, in the engine's order; otherwise the last reply names the
  // last argument.
  head.channels ??=
    command.args.length > 0
      ? command.args.map((name) => name.toString('latin1'))
      : [...connection.session.state.subscribed[change.kind]]
  const channel = head.channels[head.confirmed]
  if (channel !== undefined)
    connection.session.state = afterSubscription(connection.session.state, {
      kind: change.kind,
      adds: change.adds,
      channel,
    })
  head.confirmed += 1
  if (head.confirmed >= head.channels.length) {
    link.answered += 1
    dropNote(link)
  }
  return false
}
