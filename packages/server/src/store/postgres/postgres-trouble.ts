import { messageOf } from '@fairlead/engine'
import pg from 'pg'

/** PostgreSQL does not answer, or cannot do this now. Nothing was changed, unless a commit was sent. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway'
  readonly code = 'STORE_AWAY'
  /** The answer to a COMMIT did not come: it may have been done. */
  readonly isCommitSent: boolean

  constructor(message: string, cause: unknown, isCommitSent = false) {
    super(message, { cause })
    this.isCommitSent = isCommitSent
  }

  /** It refuses the login: a person has to mend that. */
  get isRefusal(): boolean {
    return this.cause instanceof pg.DatabaseError && isRefusal(this.cause.code ?? '')
  }
}

/** SQLSTATE: rolled back because of others. Done again, it may go through. */
const conflicts: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available in time
])

/** SQLSTATE, in addition to class 08 (connections) and 57P (PostgreSQL stops, or starts). */
const away: ReadonlySet<string> = new Set([
  '25006', // read-only: a replica, or what was the primary
  '25P03', // idle in a transaction for too long
  '53100', // disk full
  '53200', // out of memory
  '53300', // too many connections
  '57014', // the deadline of the statement
  '58030', // its disk fails
])

/** SQLSTATE: a password, an entry of pg_hba.conf, a database or a right that is missing. */
function isRefusal(code: string): boolean {
  return code.startsWith('28') || code === '3D000' || code === '42501'
}

/** Whether `cause` is a rollback because of other transactions. */
export function isConflict(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError && conflicts.has(cause.code ?? '')
}

/**
 * `cause` of a statement, or of a connection, as StoreAway where PostgreSQL was in the way; else as it is. What PostgreSQL itself has not said
 * comes from the connection, or from its deadline.
 */
export function asTrouble(cause: unknown): unknown {
  if (cause instanceof StoreAway) return cause
  if (!(cause instanceof pg.DatabaseError))
    return new StoreAway(`PostgreSQL does not answer: ${messageOf(cause)}`, cause)
  const code = cause.code ?? ''
  if (code.startsWith('08') || code.startsWith('57P') || away.has(code) || isRefusal(code))
    return new StoreAway(`PostgreSQL cannot do this now: ${cause.message}`, cause)
  return cause
}
