import { afterSuccess, afterTransaction } from './after-command.ts'
import { withAssumedLogin } from './client-settings.ts'
import { type Command, wordAt } from './command.ts'
import { isMisformed } from './commands.ts'
import type { ConnectionState } from './connection-state.ts'
import { afterTracking } from './tracking.ts'
import { inTransaction } from './unmovable.ts'

/** Number of former databases remembered when a selected one may not exist. */
const MOST_BEFORE = 16
/** No database number has more characters. */
const LONGEST_DATABASE = 20

/** Returns the state after `command` without a reply, which counts as executed if its form is valid. */
export function afterAssumed(state: ConnectionState, command: Command): ConnectionState {
  if (command.name === 'SELECT') return afterSelect(state, command)
  if (command.name === 'EXEC') return afterSilentExec(state)
  return afterUnsure(state, command) ?? (isRefused(command) ? state : afterSuccess(state, command))
}

/**
 * An engine executes all of a transaction or nothing. Without replies that is unknown, and a state-changing
 * command cannot be repeated to find out, because the others would be repeated too.
 */
function afterSilentExec(state: ConnectionState): ConnectionState {
  const { transaction } = state
  const after = afterTransaction(state)
  const [change] = transaction?.changes ?? []
  if (change === undefined || transaction?.aborts === true) return after
  return { ...after, unmovable: inTransaction(`${change.command.name} without a reply`) }
}

/** Commands that an engine may refuse despite a valid form: the next engine gets them and decides alike. */
function afterUnsure(state: ConnectionState, command: Command): ConnectionState | undefined {
  if (command.cutShort) return undefined
  if (command.name === 'AUTH') return withAssumedLogin(state, command.args)
  const isTracking = command.name === 'CLIENT' && wordAt(command, 0) === 'TRACKING'
  return isTracking ? afterTracking(state, command, false) : undefined
}

/** Only the engine knows how many databases it has: if this one does not exist, the former stays selected. */
function afterSelect(state: ConnectionState, { args }: Command): ConnectionState {
  const asked = String(args[0] ?? '')
  if (args.length !== 1 || asked.length > LONGEST_DATABASE) return state
  const before = [...state.databasesBefore, state.database].filter((each) => each !== asked)
  return { ...state, database: asked, databasesBefore: before.slice(-MOST_BEFORE) }
}

/** True if every engine refuses the command, so that its setting is unchanged. */
function isRefused(command: Command): boolean {
  const { name, args } = command
  if (isMisformed(command)) return true
  if (name === 'HELLO') return args.length > 0 && !['2', '3'].includes(wordAt(command, 0))
  if (name !== 'CLIENT') return false
  switch (wordAt(command, 0)) {
    case 'SETNAME':
      return args.length !== 2 || !isName(args[1])
    case 'SETINFO':
      return args.length !== 3 || !isName(args[2])
    case 'NO-EVICT':
    case 'NO-TOUCH':
      return args.length !== 2 || !['ON', 'OFF'].includes(wordAt(command, 1))
    default:
      return false
  }
}

function isName(word: Buffer | undefined): boolean {
  return word?.every((byte) => byte > 0x20 && byte < 0x7f) ?? false
}
