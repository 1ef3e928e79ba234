import { type Command, hasWord, isWord, wordAt } from './command.ts'
import type { ConnectionState } from './connection-state.ts'
import { isTooLong, tooLong } from './setting-length.ts'
import { afterTracking } from './tracking.ts'

/** Returns the state after CLIENT has succeeded. */
export function afterClient(state: ConnectionState, command: Command): ConnectionState {
  const name = wordAt(command, 0)
  switch (name) {
    case 'SETNAME':
    case 'NO-EVICT':
    case 'NO-TOUCH':
      return withSetting(state, name, command.args)
    case 'SETINFO':
      // Engines know no others: a refused name is ignored even if no reply shows that.
      return infoNames.has(wordAt(command, 1))
        ? withSetting(state, `SETINFO ${wordAt(command, 1)}`, command.args)
        : state
    case 'CAPA':
      // An engine ignores unknown words: they are not remembered.
      return hasWord(command.args, 'REDIRECT') ? withSetting(state, 'CAPA', capaRedirect) : state
    case 'TRACKING':
      return afterTracking(state, command)
    default:
      return state
  }
}

const infoNames: ReadonlySet<string> = new Set(['LIB-NAME', 'LIB-VER'])
const capaRedirect = ['CAPA', 'REDIRECT'].map((word) => Buffer.from(word))

/** Returns the state after HELLO [protocol [AUTH user password] [SETNAME name]]. */
export function afterHello(state: ConnectionState, command: Command): ConnectionState {
  const { args } = command
  if (args.length === 0) return state
  let after: ConnectionState = { ...state, protocol: String(args[0]) === '3' ? 3 : 2 }
  for (let at = 1; at < args.length; at += 1) {
    if (isWord(args[at], 'AUTH')) {
      after = withLogin(after, args.slice(at + 1, at + 3))
      at += 2
    } else if (isWord(args[at], 'SETNAME')) {
      after = withSetting(after, 'SETNAME', [Buffer.from('SETNAME'), ...args.slice(at + 1, at + 2)])
      at += 1
    }
  }
  return after
}

/** Returns the state after the engine has accepted `login`. */
export function withLogin(state: ConnectionState, login: readonly Buffer[]): ConnectionState {
  return isTooLong(login) ? tooLong(state, 'login') : { ...state, login, assumedLogins: [] }
}

/** No client sends more logins in a row without replies. */
const MOST_ASSUMED = 16

/** Returns the state after AUTH without a reply: if the engine refused this login, the former one counts. */
export function withAssumedLogin(state: ConnectionState, login: readonly Buffer[]): ConnectionState {
  const assumedLogins = [...state.assumedLogins, login]
  const isMuch = assumedLogins.length > MOST_ASSUMED || isTooLong(assumedLogins.flat())
  return isMuch ? tooLong(state, 'login') : { ...state, assumedLogins }
}

export function withSetting(state: ConnectionState, key: string, args: readonly Buffer[]): ConnectionState {
  if (isTooLong(args)) return tooLong(state, `CLIENT ${key}`)
  return { ...state, settings: new Map([...state.settings, [key, args]]) }
}
