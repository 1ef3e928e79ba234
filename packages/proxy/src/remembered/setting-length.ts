import type { ConnectionState } from './connection-state.ts'

/** There are few settings, and each is short: what all connections remember is bounded. */
export const LONGEST_SETTING_BYTES = 16 * 1024

/** Whether these arguments are more bytes than the proxy remembers of one setting. */
export function isTooLong(args: readonly Buffer[]): boolean {
  return args.reduce((sum, { length }) => sum + length, 0) > LONGEST_SETTING_BYTES
}

/** The state of a connection that can no longer be moved, because `what` is too long to be remembered. */
export function tooLong(state: ConnectionState, what: string): ConnectionState {
  const why = `its ${what} has more than ${LONGEST_SETTING_BYTES / 1024} KB`
  return { ...state, unmovable: { code: 'too_much', why } }
}
