import { beyondConnection, beyondDatabase, type Denial } from '@fairlead/engine'
import type { AclDialect } from './acl-dialect.ts'
import { ADMIN, DATABASE_USER, type Rules, readUser, sayUser, type User } from './acl-user.ts'
import { type AclWords, aclWords } from './acl-words.ts'
import { commandRights, isAllowed } from './command-rights.ts'
import { eachInSteps, type InSteps, mapInSteps } from './in-steps.ts'

/**
 * The user without what reaches beyond the database. `default` never has it. Another user keeps what was granted to it by name: a person
 * meant that. What came with a category (+@all) is taken.
 */
export function* withinReach(user: User, dialect: AclDialect): InSteps<User> {
  const [root = user.root, ...selectors] = yield* mapInSteps([user.root, ...user.selectors], (rules) => ({
    ...rules,
    commands: [...rules.commands, ...wordsAgainst(rules, user.name, dialect)],
  }))
  return { ...user, root, selectors }
}

/** What `ACL SETUSER name …words` has to say, for each line of ACL LIST whose user reaches beyond its database. */
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

function wordsToLimit(user: User, limited: User, knows: AclWords): readonly string[] {
  return [
    ...added(user.root, limited.root),
    // A selector cannot be changed, only written again with all others.
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
    ...{ command, words: [`-${command}`] },
  }))
  const isMeant = ({ command }: Denial) => user !== DATABASE_USER && said.has(`+${command}`)
  // From a user that may do anything to the engine it would take nothing.
  const isAdministrator = isAllowed('config|set', rights, table) || said.has('+client')
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
