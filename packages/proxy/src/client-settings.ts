import { type Command, wordAt } from './commands.ts'
import type { ConnectionState } from './connection-state.ts'

/** CLIENT has worked. */
export function afterClient(state: ConnectionState, command: Command): ConnectionState {
  const name = wordAt(command, 0)
  switch (name) {
    case 'SETNAME':
    case 'NO-EVICT':
    case 'NO-TOUCH':
      return withSetting(state, name, command.args)
    case 'SETINFO':
      // Engines know no others. Names that they refuse count for nothing even where no answer says so.
      return infoNames.has(wordAt(command, 1))
        ? withSetting(state, `SETINFO ${wordAt(command, 1)}`, command.args)
        : state
    case 'CAPA':
      // Words that an engine does not know it ignores: nothing of them is remembered.
      return command.args.some((_, at) => wordAt(command, at) === 'REDIRECT')
        ? withSetting(state, 'CAPA', capaRedirect)
        : state
    case 'TRACKING':
      return afterTracking(state, command)
    default:
      return state
  }
}

const infoNames: ReadonlySet<string> = new Set(['LIB-NAME', 'LIB-VER'])
const capaRedirect = ['CAPA', 'REDIRECT'].map((word) => Buffer.from(word))

function afterTracking(state: ConnectionState, command: Command): ConnectionState {
  if (wordAt(command, 1) !== 'ON') return { ...state, tracking: null }
  const redirects = command.args.some((_, at) => wordAt(command, at) === 'REDIRECT')
  // It names another connection by a number that only this engine knows.
  if (redirects) return { ...state, unmovable: 'CLIENT TRACKING with REDIRECT' }
  return isTooLong(command.args) ? tooLong(state, 'CLIENT TRACKING') : { ...state, tracking: command.args }
}

/** There are few settings, and each is short: what all connections remember is bounded. */
export const LONGEST_SETTING_BYTES = 16 * 1024

function isTooLong(args: readonly Buffer[]): boolean {
  return args.reduce((sum, { length }) => sum + length, 0) > LONGEST_SETTING_BYTES
}

function tooLong(state: ConnectionState, what: string): ConnectionState {
  return { ...state, unmovable: `its ${what} has more than ${LONGEST_SETTING_BYTES / 1024} KB` }
}

export function withLogin(state: ConnectionState, login: readonly Buffer[]): ConnectionState {
  return isTooLong(login) ? tooLong(state, 'login') : { ...state, login }
}

export function withSetting(state: ConnectionState, key: string, args: readonly Buffer[]): ConnectionState {
  if (isTooLong(args)) return tooLong(state, `CLIENT ${key}`)
  return { ...state, settings: new Map([...state.settings, [key, args]]) }
}
