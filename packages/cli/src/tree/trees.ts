import type { Command } from 'commander'
import type { Settings } from './settings.ts'

/** A part of the tree of commands. */
export interface Tree<S extends Settings = Settings> {
  /** All that it has directly below `fairlead`, with other names of it. */
  readonly words: readonly string[]
  readonly add: (program: Command, settings: S) => Promise<void>
}

/** The parts that speak to a server, in the order of help. */
export const clientTrees: readonly Tree[] = [
  {
    words: ['login', 'logout', 'whoami'],
    add: async (...to) => (await import('./add-login-commands.ts')).addLoginCommands(...to),
  },
  {
    words: ['databases', 'db', 'database'],
    add: async (...to) => (await import('./add-databases-commands.ts')).addDatabasesCommands(...to),
  },
  {
    words: ['actions', 'action'],
    add: async (...to) => (await import('./add-actions-commands.ts')).addActionsCommands(...to),
  },
  {
    words: ['status', 'doctor'],
    add: async (...to) => (await import('./add-cluster-commands.ts')).addClusterCommands(...to),
  },
  {
    words: ['modules'],
    add: async (...to) => (await import('./add-modules-commands.ts')).addModulesCommands(...to),
  },
  {
    words: ['users', 'roles'],
    add: async (...to) => (await import('./add-people-commands.ts')).addPeopleCommands(...to),
  },
  {
    words: ['nodes', 'audit', 'logs', 'certificates'],
    add: async (...to) => (await import('./add-watch-commands.ts')).addWatchCommands(...to),
  },
  {
    words: ['config', 'api'],
    add: async (...to) => (await import('./add-config-commands.ts')).addConfigCommands(...to),
  },
  {
    words: ['completion'],
    add: async (program) => (await import('./add-completion-commands.ts')).addCompletionCommands(program),
  },
]

/** The parts that a command line needs: those with its first word; none for the version, and all where the word is not known, as for help. */
export function treesFor<T extends Tree<never>>(trees: readonly T[], word: string | undefined): readonly T[] {
  if (word === '--version' || word === '-V') return []
  const known = trees.filter(({ words }) => word !== undefined && words.includes(word))
  return known.length > 0 ? known : trees
}
