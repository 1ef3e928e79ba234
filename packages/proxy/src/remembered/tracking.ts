import { type Command, hasWord, wordAt } from './command.ts'
import type { ConnectionState, Tracking } from './connection-state.ts'
import { isTooLong, tooLong } from './setting-length.ts'
import type { Unmovable } from './unmovable.ts'

const redirected: Unmovable = { code: 'redirected', why: 'CLIENT TRACKING with REDIRECT' }

/**
 * CLIENT TRACKING has succeeded, or (not `isSure`) was not answered. Those with BCAST add prefixes to earlier ones, so all of them are
 * kept, in their order: engines accept each set of prefixes again as it came. Other options are those of the last command.
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

/** Without a prefix all keys are meant. A client may say that, or options, often: only the last of these counts. */
function keptBefore(before: readonly Tracking[], { args }: Command, isSure: boolean): readonly Tracking[] {
  if (!isSure) return before.filter((each) => each.isSure || !isSame(each.args, args))
  return hasWord(args, 'BCAST') ? before.filter((each) => !each.isSure || hasWord(each.args, 'PREFIX')) : []
}

function isSame(one: readonly Buffer[], other: readonly Buffer[]): boolean {
  return one.length === other.length && one.every((each, at) => each.equals(other[at] ?? Buffer.alloc(0)))
}
