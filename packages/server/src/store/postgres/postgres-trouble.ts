import { messageOf } from '@fairlead/engine'
import pg from 'pg'

/** PostgreSQL does not answer, or cannot work now. Nothing was changed, unless a commit was sent. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway'
  readonly code = 'STORE_AWAY'
  /** The answer to a COMMIT is missing: it may have happened. */
  readonly isCommitSent: boolean

  constructor(message: string, cause: unknown, isCommitSent = false) {
    super(message, { cause })
    this.isCommitSent = isCommitSent
  }

  /** PostgreSQL refuses the login, which needs a person. */
  get isRefusal(): boolean {
    return this.cause instanceof pg.DatabaseError && isRefusal(this.cause.code ?? '')
  }
}

/** SQLSTATE: rolled back because of others. A retry may succeed. */
const conflicts: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available in time
])

/** SQLSTATE, besides class 08 (connections) and 57P (PostgreSQL stops or starts). */
const away: ReadonlySet<string> = new Set([
  '25006', // read-only: a replica, or a former primary
  '25P03', // idle in a transaction for too long
  '53100', // disk full
  '53200', // out of memory
  '53300', // too many connections
  '57014', // the deadline of the statement
  '58030', // disk failure
])

/** SQLSTATE: wrong password, or a missing entry of pg_hba.conf, database or right. */
function isRefusal(code: string): boolean {
  return code.startsWith('28') || code === '3D000' || code === '42501'
}

/** Returns whether `cause` is a rollback because of other transactions. */
export function isConflict(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError && conflicts.has(cause.code ?? '')
}

/**
 * Converts `cause` to StoreAway if it is an outage of PostgreSQL. Errors that PostgreSQL did not send come
 * from the connection or its deadline.
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
