import { encodeCommand } from '@fairlead/engine'
import { replayTransaction } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'
import { noteOwn } from './noted.ts'
import { restoreReplyOff } from './send-own.ts'

/*
 * With CLIENT REPLY OFF a client may open a transaction. A probe inside would be queued and get no answer, so
 * the proxy proves before the transaction that everything earlier was executed. The queued commands need no
 * proof: they change nothing and are kept.
 */

const ON = encodeCommand(['CLIENT', 'REPLY', 'ON'])
const OFF = encodeCommand(['CLIENT', 'REPLY', 'OFF'])
const SKIP = encodeCommand(['CLIENT', 'REPLY', 'SKIP'])
const MULTI = encodeCommand(['MULTI'])
const DISCARD = encodeCommand(['DISCARD'])

/**
 * Returns the bytes to send for a MULTI without a reply: first a probe, whose answer proves that everything
 * before was executed.
 */
export function provenMulti({ session: { ahead } }: Connection, link: Link): Buffer {
  noteOwn(link, false)
  return Buffer.concat([ON, ahead.silent ? OFF : SKIP, MULTI])
}

/** True if the client is in a transaction without replies. */
export function isSilentlyOpen({ session: { ahead } }: Connection): boolean {
  return ahead.silent && ahead.inTransaction
}

/** Ends the transaction on a link that is about to be closed or unused, so that probes are possible again. */
export function leaveSilently(connection: Connection, link: Link): void {
  if (isSilentlyOpen(connection)) link.socket.write(DISCARD)
}

/**
 * State for a new engine while it still replies: a transaction without replies is reopened later
 * (`reopenSilently`).
 */
export function answeredState(connection: Connection): Connection['session']['state'] {
  const {
    session: { state },
  } = connection
  return isSilentlyOpen(connection) ? { ...state, transaction: null } : state
}

/** Restores CLIENT REPLY on a new link, and then reopens a transaction without replies. */
export function reopenSilently(connection: Connection, link: Link): void {
  restoreReplyOff(connection, link)
  const { transaction } = connection.session.state
  if (!isSilentlyOpen(connection) || transaction === null) return
  for (const { bytes } of replayTransaction(transaction, link.generation)) link.socket.write(bytes)
}
