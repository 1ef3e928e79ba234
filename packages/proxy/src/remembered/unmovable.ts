import type { Obstacle } from '@fairlead/api/of-proxies'

/** Why a connection cannot be moved. Its client gets `why`. */
export interface Unmovable extends Obstacle<UnmovableCode> {
  /** The name of the command that caused it. Absent if no command did. */
  readonly command?: string
}

/**
 * - `command`: one that takes the connection out of its protocol (MONITOR, PSYNC…). If it is refused, the state is as before.
 * - `without_reply`: a command may wait, and nothing will say when it no longer does.
 * - `exec_under_way`: EXEC carries out what may cut its own reply, and that reply is not there.
 * - `in_transaction`: EXEC has carried out a command that changes the connection, or may have.
 * - `redirected`: CLIENT TRACKING names another connection by its number.
 * - `reply_count`: the number of replies to come is not known.
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

/** A command that binds the connection to its engine is being forwarded. */
export function keptBy(command: string): Unmovable {
  return { code: 'command', command, why: command }
}

/** EXEC is about to carry out `command`, which may cut its reply. */
export function execUnderWay(command: string): Unmovable {
  return { code: 'exec_under_way', command, why: `${command} in a transaction that is not answered` }
}

/** EXEC has carried out `command`. */
export function inTransaction(command: string): Unmovable {
  return { code: 'in_transaction', command, why: `${command} in a transaction` }
}
