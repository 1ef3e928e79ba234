import { type CommandTable, commandTable } from '../src/core/carry-over/command-rights.ts'

/** A few commands, as a present build has them. */
const some: Readonly<Record<string, readonly string[]>> = {
  get: ['read'],
  set: ['write'],
  keys: ['read'],
  flushall: ['write', 'dangerous'],
  select: ['connection'],
  client: ['slow'],
  'client|id': ['connection'],
  'client|kill': ['admin', 'dangerous'],
  config: ['slow'],
  'config|get': ['admin', 'dangerous'],
  'config|set': ['admin', 'dangerous'],
  migrate: ['write', 'dangerous'],
  'restore-asking': ['write', 'dangerous'],
  script: ['slow'],
  'script|load': ['slow', 'scripting'],
  'script|debug': ['slow', 'scripting'],
}

export const older = tableOf({ ...some, config: ['admin', 'dangerous'] })

/** Has commands and a category that the older build lacks, and counts `keys` as dangerous. */
export const newer = tableOf({
  ...some,
  config: ['admin', 'dangerous'],
  keys: ['read', 'dangerous'],
  hexpire: ['write', 'hash'],
  'client|capa': ['connection'],
  cluster: ['slow'],
  'cluster|slots': ['slow'],
  'cluster|failover': ['admin', 'dangerous'],
})

/** With a module that connects to any given address. */
export const withModule = tableOf({ ...some, 'search.clusterset': ['read'] })

/** The commands as before redis 7: without subcommands, and CLIENT is administrative as a whole. */
export const ancient = tableOf({
  get: ['read'],
  set: ['write'],
  keys: ['read', 'dangerous'],
  flushall: ['write', 'dangerous'],
  select: ['connection'],
  client: ['admin', 'dangerous'],
  config: ['admin', 'dangerous'],
  cluster: ['admin', 'dangerous'],
  migrate: ['write', 'dangerous'],
  'restore-asking': ['write', 'dangerous'],
  script: ['slow', 'scripting'],
})

function tableOf(commands: Readonly<Record<string, readonly string[]>>): CommandTable {
  return commandTable(Object.entries(commands).map(([name, categories]) => ({ name, categories })))
}
