import { isCarried, type Parameters } from './runtime-settings.ts'

/** Users of an engine (lines of ACL LIST) and its parameters. */
export interface SourceSettings {
  readonly users: readonly string[]
  readonly settings: Parameters
}

/** Names of users, and of parameters in the engine's spelling. */
export interface Changes {
  readonly users: ReadonlySet<string>
  readonly settings: ReadonlySet<string>
}

/** Finds users added, changed or deleted since `before`, and parameters set by others. */
export function changesSince(before: SourceSettings, now: SourceSettings): Changes {
  const [were, are] = [new Set(before.users), new Set(now.users)]
  const lines = [...were].filter((line) => !are.has(line)).concat([...are].filter((line) => !were.has(line)))
  const names = Object.keys(now.settings).filter((name) => now.settings[name] !== before.settings[name])
  return { users: new Set(lines.map(userNameIn)), settings: new Set(names.filter(isCarried)) }
}

/** Returns `before` with the changed parts taken from `later`. */
export function withChanges(before: SourceSettings, later: SourceSettings, changes: Changes): SourceSettings {
  const isConcerned = (line: string) => changes.users.has(userNameIn(line))
  const settings = Object.entries(later.settings).filter(([name]) => changes.settings.has(name))
  return {
    users: [...before.users.filter((line) => !isConcerned(line)), ...later.users.filter(isConcerned)],
    settings: { ...before.settings, ...Object.fromEntries(settings) },
  }
}

/** Reads the user's name from a line of ACL LIST: no engine allows spaces in it. */
export function userNameIn(line: string): string {
  return line.split(' ', 2)[1] ?? ''
}
