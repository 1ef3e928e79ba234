import type { ConnectionState } from './connection-state.ts'

/** Limit of one setting. With few settings, the memory for all connections is bounded. */
export const LONGEST_SETTING_BYTES = 16 * 1024

/** True if these arguments exceed the limit of one setting. */
export function isTooLong(args: readonly Buffer[]): boolean {
  return args.reduce((sum, { length }) => sum + length, 0) > LONGEST_SETTING_BYTES
}

/** Returns an unmovable state, because `what` is too long to be remembered. */
export function tooLong(state: ConnectionState, what: string): ConnectionState {
  const why = `its ${what} has more than ${LONGEST_SETTING_BYTES / 1024} KB`
  return { ...state, unmovable: { code: 'too_much', why } }
}
