import { encodeCommand } from '@fairlead/engine'
import { replayTransaction } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'
import { noteOwn } from './noted.ts'
import { restoreSilence } from './send-own.ts'

/*
 * A client with CLIENT REPLY OFF may open a transaction. In it, the proxy cannot ask a question: the question would become a part of
 * the transaction, and get no answer. That is not needed, either: queued commands change nothing, and are kept. So the proxy makes sure
 * that everything before the transaction was carried out, before it begins.
 */

const ON = encodeCommand(['CLIENT', 'REPLY', 'ON'])
const OFF = encodeCommand(['CLIENT', 'REPLY', 'OFF'])
const SKIP = encodeCommand(['CLIENT', 'REPLY', 'SKIP'])
const MULTI = encodeCommand(['MULTI'])
const DISCARD = encodeCommand(['DISCARD'])

/** What is sent instead of a MULTI without a reply: first a question of the proxy, whose answer proves that everything before was carried out. */
export function provenMulti({ ahead }: Connection, link: Link): Buffer {
  noteOwn(link, false)
  return Buffer.concat([ON, ahead.silent ? OFF : SKIP, MULTI])
}

/** Whether the client is in a transaction in which nothing is answered. */
export function isSilentlyOpen({ ahead }: Connection): boolean {
  return ahead.silent && ahead.inTransaction
}

/** Its link is about to be closed, or is not used any more: questions of the proxy are possible again. */
export function leaveSilently(connection: Connection, link: Link): void {
  if (isSilentlyOpen(connection)) link.socket.write(DISCARD)
}

/** The state that a new engine gets while it answers: a transaction without answers is reopened later (`reopenSilently`). */
export function answeredState(connection: Connection): Connection['state'] {
  const { state } = connection
  return isSilentlyOpen(connection) ? { ...state, transaction: null } : state
}

/** Called when a new link is as silent as the client wants it: only then a transaction without answers is begun. */
export function reopenSilently(connection: Connection, link: Link): void {
  restoreSilence(connection, link)
  const { transaction } = connection.state
  if (!isSilentlyOpen(connection) || transaction === null) return
  for (const { bytes } of replayTransaction(transaction, link.generation)) link.socket.write(bytes)
}
