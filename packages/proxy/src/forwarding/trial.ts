import { randomBytes } from 'node:crypto'
import { ERROR, encodeCommand } from '@fairlead/engine'
import { cachingNow } from '../connection/client-caching.ts'
import type { Connection } from '../connection/connection.ts'
import { endConnection } from '../connection/end-connection.ts'
import type { Link } from '../connection/link.ts'
import { noteOwn } from '../connection/noted.ts'
import { isPartlySent } from '../connection/under-way.ts'

/*
 * A reply on a link stays due for hold after hold: is its engine slow, or is the count wrong? Engines answer in order. So the proxy asks a question,
 * behind all requests, whose answer cannot be mistaken for any other reply. If that answer comes while others
 * should come before it, these will never come. If they come first, the count is right, and the answer is swallowed.
 */

const ON = encodeCommand(['CLIENT', 'REPLY', 'ON'])
const OFF = encodeCommand(['CLIENT', 'REPLY', 'OFF'])

/** The last error for a client whose connection is closed because the count of its replies was wrong. */
export const MISCOUNTED =
  'ERR the endpoint waited for a reply that its engine does not owe this connection, and an upgrade waited too: connect again'

/** Asks the question, if that has no effect for the client: not inside of a transaction, nor where it would count as the client's next command. */
export function tryLink(connection: Connection): void {
  const { link, mode, blocked, ahead, state } = connection
  if (link === null || mode !== 'serving' || link.trial !== null || link.proving) return
  const isTaken = ahead.inTransaction || state.transaction !== null || ahead.skipsNext
  if (isTaken || blocked || isPartlySent(connection) || cachingNow(connection) !== null) return
  // Each engine names a command that it does not know in its error, also to clients that are subscribed.
  const word = `fairlead-${randomBytes(8).toString('hex')}`
  const question = encodeCommand([word])
  if (ahead.silent) noteOwn(link, false)
  noteOwn(link, false)
  link.trial = { word, at: link.sent }
  link.socket.write(ahead.silent ? Buffer.concat([ON, question, OFF]) : question)
}

/** The reply that begins with `firstByte` may be the answer. */
export function mayAnswerTrial({ trial }: Link, firstByte: number | undefined): boolean {
  return trial !== null && firstByte === ERROR
}

/** A reply has come. If it is the answer, and others were due before it, the connection is closed. */
export function endIfMiscounted(connection: Connection, link: Link): void {
  const { replies, trial, answered } = link
  if (trial === null || replies.type !== ERROR || !replies.text.includes(trial.word)) return
  link.trial = null
  if (trial.at !== answered + 1) endConnection(connection, MISCOUNTED)
}
