import type { Action } from '../state/action.ts'

/** The message of `db_busy`. Without an action, it has just ended. */
export function describeBusy(name: string, action: Pick<Action, 'uid' | 'kind'> | undefined): string {
  const which = action === undefined ? '' : `: action ${action.uid} (${action.kind}) runs`
  return `another change of database ${name} is in progress${which}; try again when it has ended`
}
