import type { Obstacle } from '@fairlead/api/of-proxies'

/** Reason for which a connection cannot be moved. Its client gets `why`. */
export interface Unmovable extends Obstacle<UnmovableCode> {
  /** The command that caused it, if any. */
  readonly command?: string
}

/**
 * Codes of the reasons.
 * - `command`: takes the connection out of its protocol (MONITOR, PSYNC…). If refused, the state is
 *   unchanged.
 * - `without_reply`: a command may block, and no reply will show its end.
 * - `exec_under_way`: an unanswered EXEC executes a command that may cut its reply.
 * - `in_transaction`: EXEC has, or may have, executed a command that changes the connection.
 * - `redirected`: CLIENT TRACKING names another connection by its number.
 * - `reply_count`: the number of outstanding replies is unknown.
 * - `too_much`: more than is remembered.
 */
type UnmovableCode =
  | 'command'
  | 'without_reply'
  | 'exec_under_way'
  | 'in_transaction'
  | 'redirected'
  | 'reply_count'
  | 'too_much'

/** Returns the reason for a forwarded command that binds the connection to its engine. */
export function keptBy(command: string): Unmovable {
  return { code: 'command', command, why: command }
}

/** Returns the reason while EXEC executes `command`, which may cut its reply. */
export function execUnderWay(command: string): Unmovable {
  return { code: 'exec_under_way', command, why: `${command} in a transaction that is not answered` }
}

/** Returns the reason after EXEC has executed `command`. */
export function inTransaction(command: string): Unmovable {
  return { code: 'in_transaction', command, why: `${command} in a transaction` }
}
