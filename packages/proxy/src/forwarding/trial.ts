import { randomBytes } from 'node:crypto'
import { ERROR, encodeCommand } from '@fairlead/engine'
import { cachingNow } from '../connection/client-caching.ts'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import type { Link } from '../connection/link.ts'
import { noteOwn } from '../connection/noted.ts'
import { isPartlySent } from '../connection/under-way.ts'

/*
 * Distinguishes a slow engine from a wrong count, when a reply stays pending over several holds. Engines
 * answer in order, so the proxy sends an unknown command with a unique name after all requests. If its error
 * arrives while earlier replies are pending, they will never come; otherwise the count is right, and the
 * error is swallowed.
 */

const ON = encodeCommand(['CLIENT', 'REPLY', 'ON'])
const OFF = encodeCommand(['CLIENT', 'REPLY', 'OFF'])

/** Last error for a client whose replies were miscounted. */
export const MISCOUNTED =
  'ERR the endpoint waited for a reply that its engine does not owe this connection, and an upgrade waited too: connect again'

/** Sends the probe if it cannot affect the client: not in a transaction, nor as the "next command". */
export function tryLink(connection: Connection): void {
  const {
    link,
    mode,
    input: { blocked },
    session: { ahead, state },
  } = connection
  if (link === null || mode !== 'serving' || link.trial !== null || link.proving) return
  const isTaken = ahead.inTransaction || state.transaction !== null || ahead.skipsNext
  if (isTaken || blocked || isPartlySent(connection) || cachingNow(connection) !== null) return
  // Every engine names an unknown command in its error, also to subscribed clients.
  const word = `fairlead-${randomBytes(8).toString('hex')}`
  const question = encodeCommand([word])
  if (ahead.silent) noteOwn(link, false)
  noteOwn(link, false)
  link.trial = { word, at: link.sent }
  link.socket.write(ahead.silent ? Buffer.concat([ON, question, OFF]) : question)
}

/** True if the reply that begins with `firstByte` may be the answer. */
export function mayAnswerTrial({ trial }: Link, firstByte: number | undefined): boolean {
  return trial !== null && firstByte === ERROR
}

/** Closes the connection if this reply is the answer and earlier replies are pending. */
export function endIfMiscounted(connection: Connection, link: Link): void {
  const { replies, trial, answered } = link
  if (trial === null || replies.type !== ERROR || !replies.text.includes(trial.word)) return
  link.trial = null
  if (trial.at !== answered + 1) endConnection(connection, MISCOUNTED)
}
