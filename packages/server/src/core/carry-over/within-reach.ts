import { beyondConnection, beyondDatabase, type Denial } from '@fairlead/engine'
import type { AclDialect } from './acl-dialect.ts'
import { ADMIN, DATABASE_USER, type Rules, readUser, sayUser, type User } from './acl-user.ts'
import { aclWords } from './acl-words.ts'
import { commandRights, isAllowed } from './command-rights.ts'

/**
 * The user without what reaches beyond the database. `default` never has it. Another user keeps what was granted to it by name: a person
 * meant that. What came with a category (+@all) is taken.
 */
export function withinReach(user: User, dialect: AclDialect): User {
  const limit = (rules: Rules): Rules => ({
    ...rules,
    commands: [...rules.commands, ...wordsAgainst(rules, user.name, dialect)],
  })
  return { ...user, root: limit(user.root), selectors: user.selectors.map(limit) }
}

/** What `ACL SETUSER name …words` has to say, for each line of ACL LIST whose user reaches beyond its database. */
export function usersToLimit(
  lines: readonly string[],
  dialect: AclDialect,
): readonly { readonly name: string; readonly words: readonly string[] }[] {
  const knows = aclWords(dialect.build)
  return lines
    .map((line) => readUser(line, knows))
    .flatMap((read) => (read.kind === 'user' && read.name !== ADMIN ? [read.user] : []))
    .map((user) => ({ user, limited: withinReach(user, dialect) }))
    .map(({ user, limited }) => ({
      name: user.name,
      words: [
        ...added(user.root, limited.root),
        // A selector cannot be changed, only said anew with all others.
        ...(user.selectors.some((rules, n) => added(rules, limited.selectors[n] ?? rules).length > 0)
          ? ['clearselectors', ...sayUser(limited, knows).filter((word) => word.startsWith('('))]
          : []),
      ],
    }))
    .filter(({ words }) => words.length > 0)
}

function added(before: Rules, after: Rules): readonly string[] {
  return after.commands.slice(before.commands.length)
}

function wordsAgainst(
  { commands }: Rules,
  user: string,
  { build, commands: table }: AclDialect,
): readonly string[] {
  const rights = commandRights(commands, table)
  const ofModules = [...table.commands].filter(reachesBeyond).map((command) => ({
    ...{ command, words: [`-${command}`] },
  }))
  const isMeant = ({ command }: Denial) => user !== DATABASE_USER && commands.includes(`+${command}`)
  // From a user that may do anything to the engine it would take nothing.
  const isAdministrator = isAllowed('config|set', rights, table) || commands.includes('+client')
  const isKnown = ({ command }: Denial) => table.commands.has(command) || !table.subcommands.has('client')
  const ofConnections = isAdministrator ? [] : beyondConnection(build).filter(isKnown)
  const words = [...beyondDatabase(build), ...ofConnections, ...ofModules]
    .filter((denial) => isAllowed(denial.command, rights, table) && !isMeant(denial))
    .flatMap((denial) => denial.words)
  return [...new Set(words)]
}

/**
 * Commands of modules. RediSearch and modules built on LibMR (search.CLUSTERSET, timeseries.CLUSTERSET, …) are told by them which
 * addresses to connect to; RedisGears runs Python outside of any sandbox. None of them is in the category @admin.
 */
function reachesBeyond(command: string): boolean {
  return /\.(clusterset|clustersetfromshard)$/.test(command) || command === 'rg.pyexecute'
}
