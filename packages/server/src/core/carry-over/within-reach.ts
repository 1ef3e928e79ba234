import type { Build } from '@fairlead/api'
import { beyondConnection, beyondDatabase, type Denial, databaseUserRights } from '@fairlead/engine'
import type { AclDialect } from './acl-dialect.ts'
import { ADMIN, DATABASE_USER, type Rules, readUser, sayUser, type User } from './acl-user.ts'
import { type AclWords, aclWords } from './acl-words.ts'
import { commandRights, isAllowed } from './command-rights.ts'
import { eachInSteps, type InSteps, mapInSteps } from './in-steps.ts'

/**
 * Returns the user without rights beyond the database. `default` never has them; another user keeps those
 * granted by name, which were intended. Rights from a category (+@all) are removed.
 */
export function* withinReach(user: User, dialect: AclDialect): InSteps<User> {
  const [root = user.root, ...selectors] = yield* mapInSteps([user.root, ...user.selectors], (rules) => ({
    ...rules,
    commands: [...rules.commands, ...wordsAgainst(rules, user.name, dialect)],
  }))
  return { ...user, root, selectors }
}

/** Returns words for `ACL SETUSER name …words`, for each user who reaches beyond the database. */
export function* usersToLimit(
  lines: readonly string[],
  dialect: AclDialect,
): InSteps<readonly { readonly name: string; readonly words: readonly string[] }[]> {
  const knows = aclWords(dialect.build)
  const limited = yield* eachInSteps(lines, function* (line) {
    const read = readUser(line, knows)
    if (read.kind !== 'user' || read.name === ADMIN) return []
    const words = wordsToLimit(read.user, yield* withinReach(read.user, dialect), knows)
    return words.length > 0 ? [{ name: read.name, words }] : []
  })
  return limited.flat()
}

/**
 * True if these lines of ACL LIST are those with which agents start engines of this build: then no user
 * reaches beyond its database, and the engine's commands need not be read. Valid only without modules, whose
 * commands have separate rights.
 */
export function areAsGiven(lines: readonly string[], build: Build, inCluster: boolean): boolean {
  const knows = aclWords(build)
  const given = databaseUserRights(build, inCluster).join(' ')
  return lines.every((line) => {
    const read = readUser(line, knows)
    if (read.kind !== 'user') return false
    if (read.name === ADMIN) return true
    const { root, selectors } = read.user
    return read.name === DATABASE_USER && selectors.length === 0 && root.commands.join(' ') === given
  })
}

function wordsToLimit(user: User, limited: User, knows: AclWords): readonly string[] {
  return [
    ...added(user.root, limited.root),
    // A selector cannot be changed: all selectors are rewritten.
    ...(user.selectors.some((rules, n) => added(rules, limited.selectors[n] ?? rules).length > 0)
      ? ['clearselectors', ...sayUser(limited, knows).filter((word) => word.startsWith('('))]
      : []),
  ]
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
  const said = new Set(commands)
  const ofModules = [...table.commands].filter(reachesBeyond).map((command) => ({
    command,
    words: [`-${command}`],
  }))
  const isMeant = ({ command }: Denial) => user !== DATABASE_USER && said.has(`+${command}`)
  // It would not restrict a user that may do anything to the engine.
  const isAdministrator = isAllowed('config|set', rights, table) || said.has('+client')
  const isKnown = ({ command }: Denial) => table.commands.has(command) || !table.subcommands.has('client')
  const ofConnections = isAdministrator ? [] : beyondConnection(build).filter(isKnown)
  const words = [...beyondDatabase(build), ...ofConnections, ...ofModules]
    .filter((denial) => isAllowed(denial.command, rights, table) && !isMeant(denial))
    .flatMap((denial) => denial.words)
  return [...new Set(words)]
}

/**
 * True for dangerous commands of modules, none of them in @admin. Some set addresses to connect to
 * (RediSearch and modules built on LibMR: search.CLUSTERSET, timeseries.CLUSTERSET, …); RedisGears runs
 * Python outside of any sandbox.
 */
function reachesBeyond(command: string): boolean {
  return /\.(clusterset|clustersetfromshard)$/.test(command) || command === 'rg.pyexecute'
}
