import type { Command } from 'commander'
import type { Settings } from './client-command.ts'

/** A part of the tree of commands. */
export interface Tree<S extends Settings = Settings> {
  /** Words directly below `fairlead`, with aliases. */
  readonly words: readonly string[]
  /** Loads the function that adds its commands. */
  readonly load: () => Promise<(program: Command, settings: S) => void>
}

/** Parts that use a server, in the order of help. */
export const clientTrees: readonly Tree[] = [
  {
    words: ['login', 'logout', 'whoami'],
    load: async () => (await import('./add-login-commands.ts')).addLoginCommands,
  },
  {
    words: ['databases', 'db', 'database'],
    load: async () => (await import('./add-databases-commands.ts')).addDatabasesCommands,
  },
  {
    words: ['actions', 'action'],
    load: async () => (await import('./add-actions-commands.ts')).addActionsCommands,
  },
  {
    words: ['status', 'doctor'],
    load: async () => (await import('./add-cluster-commands.ts')).addClusterCommands,
  },
  {
    words: ['backups'],
    load: async () => (await import('./add-backups-commands.ts')).addBackupsCommands,
  },
  {
    words: ['modules'],
    load: async () => (await import('./add-modules-commands.ts')).addModulesCommands,
  },
  {
    words: ['users', 'roles', 'acls'],
    load: async () => (await import('./add-people-commands.ts')).addPeopleCommands,
  },
  {
    words: ['nodes', 'audit', 'certificates'],
    load: async () => (await import('./add-cluster-commands.ts')).addWatchCommands,
  },
  {
    words: ['profiles', 'config', 'api'],
    load: async () => (await import('./add-config-commands.ts')).addConfigCommands,
  },
  {
    words: ['completion'],
    load: async () => (await import('./add-config-commands.ts')).addCompletionCommands,
  },
]

/** The parts for a first word; none for the version, all for an unknown word, like help. */
export function treesFor<T extends Tree<never>>(trees: readonly T[], word: string | undefined): readonly T[] {
  if (word === '--version' || word === '-V') return []
  const known = trees.filter(({ words }) => word !== undefined && words.includes(word))
  return known.length > 0 ? known : trees
}
