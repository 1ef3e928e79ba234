import { isCarried, type Parameters } from './runtime-settings.ts'

/** The users of an engine, as lines of ACL LIST, and its parameters. */
export interface SourceSettings {
  readonly users: readonly string[]
  readonly settings: Parameters
}

/** Names of users, and of parameters as the engine names them. */
export interface Changes {
  readonly users: ReadonlySet<string>
  readonly settings: ReadonlySet<string>
}

/** Finds users that were added, changed or deleted since `before`, and parameters that were set by others. */
export function changesSince(before: SourceSettings, now: SourceSettings): Changes {
  const [were, are] = [new Set(before.users), new Set(now.users)]
  const lines = [...were].filter((line) => !are.has(line)).concat([...are].filter((line) => !were.has(line)))
  const names = Object.keys(now.settings).filter((name) => now.settings[name] !== before.settings[name])
  return { users: new Set(lines.map(userNameIn)), settings: new Set(names.filter(isCarried)) }
}

/** Replaces in `before` what the changes concern by its state in `later`. */
export function withChanges(before: SourceSettings, later: SourceSettings, changes: Changes): SourceSettings {
  const isConcerned = (line: string) => changes.users.has(userNameIn(line))
  const settings = Object.entries(later.settings).filter(([name]) => changes.settings.has(name))
  return {
    users: [...before.users.filter((line) => !isConcerned(line)), ...later.users.filter(isConcerned)],
    settings: { ...before.settings, ...Object.fromEntries(settings) },
  }
}

/** Reads the name of a user from a line of ACL LIST: no engine takes one with a space. */
export function userNameIn(line: string): string {
  return line.split(' ', 2)[1] ?? ''
}
