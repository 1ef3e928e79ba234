import { type Command, hasWord, wordAt } from './command.ts'
import type { ConnectionState, Tracking } from './connection-state.ts'
import { isTooLong, tooLong } from './setting-length.ts'
import type { Unmovable } from './unmovable.ts'

const redirected: Unmovable = { code: 'redirected', why: 'CLIENT TRACKING with REDIRECT' }

/**
 * Returns the state after CLIENT TRACKING; without `isSure` it was not answered. With BCAST, prefixes add up,
 * so all commands are kept in order; other options are those of the last command.
 */
export function afterTracking(state: ConnectionState, command: Command, isSure = true): ConnectionState {
  const { args } = command
  const onOrOff = wordAt(command, 1)
  if (onOrOff === 'OFF')
    return {
      ...state,
      tracking: [],
      unmovable: state.unmovable?.code === 'redirected' ? undefined : state.unmovable,
    }
  if (onOrOff !== 'ON') return state
  // It names another connection by a number that only this engine knows.
  if (hasWord(args, 'REDIRECT')) return { ...state, unmovable: state.unmovable ?? redirected }
  const tracking = [...keptBefore(state.tracking, command, isSure), { args, isSure }]
  return isTooLong(tracking.flatMap((each) => each.args))
    ? tooLong(state, 'CLIENT TRACKING')
    : { ...state, tracking }
}

/** Without a prefix all keys are tracked. Of repetitions of that, or of options, only the last counts. */
function keptBefore(before: readonly Tracking[], { args }: Command, isSure: boolean): readonly Tracking[] {
  if (!isSure) return before.filter((each) => each.isSure || !isSame(each.args, args))
  return hasWord(args, 'BCAST') ? before.filter((each) => !each.isSure || hasWord(each.args, 'PREFIX')) : []
}

function isSame(one: readonly Buffer[], other: readonly Buffer[]): boolean {
  return one.length === other.length && one.every((each, at) => each.equals(other[at] ?? Buffer.alloc(0)))
}
