import type { Build } from '@fairlead/api'
import { databaseUserRights, MADE_BY_FAIRLEAD } from '@fairlead/engine'
import type { AclDialect } from './acl-dialect.ts'
import { ADMIN, DATABASE_USER, readUser, sayUser, type User, userMeaning } from './acl-user.ts'
import { aclWords } from './acl-words.ts'
import { translateCommands } from './command-rights.ts'
import { atOnce, eachInSteps, type InSteps, mapInSteps } from './in-steps.ts'
import { withinReach } from './within-reach.ts'

export interface UsersToCarry {
  /** Users to create or replace: `ACL SETUSER name reset …rules`. The rules hold password digests. */
  readonly set: readonly { readonly name: string; readonly rules: readonly string[] }[]
  /** Users to delete, which the source does not have. */
  readonly remove: readonly string[]
  /** Users that cannot be carried over, as sentences with names, never passwords. */
  readonly obstacles: readonly string[]
  /** Rights to commands missing on the target, which users lose, as such sentences. */
  readonly lost: readonly string[]
}

/** Source and target of users. `inCluster`: the database, and so both shards, are in cluster mode. */
export interface AclPlaces {
  readonly from: AclDialect
  readonly to: AclDialect
  readonly inCluster: boolean
}

/**
 * Finds users of shard `from` that are missing or have other rights on shard `to`; both as lines of ACL LIST.
 * Excludes the administrative user. A changed `default` is carried like any user; an unchanged one keeps
 * Fairlead's rules for the build of `to`, with the passwords of `from`.
 */
export function* usersToCarry(
  from: readonly string[],
  to: readonly string[],
  places: AclPlaces,
): InSteps<UsersToCarry> {
  const source = yield* readLines(from, places.from.build)
  const there = yield* readLines(to, places.to.build)
  // Rights beyond the database are not carried, even if a process of an older Fairlead still grants them.
  const isOn = there.users.find(({ name }) => name === DATABASE_USER)?.enabled
  const wanted = yield* eachInSteps(source.users, function* (user) {
    // Agents switch the database's user off and on.
    const asThere = user.name === DATABASE_USER ? { ...user, enabled: isOn ?? user.enabled } : user
    return yield* translateUser(yield* withinReach(asThere, places.from), places)
  })
  const meanings = yield* eachInSteps(there.users, function* (user) {
    return [user.name, yield* userMeaning(user, places.to.commands)] as const
  })
  const meant = new Map(meanings)
  const set = yield* eachInSteps(wanted, function* ({ user }) {
    if (user === null || meant.get(user.name) === (yield* userMeaning(user, places.to.commands))) return []
    return [{ name: user.name, rules: sayUser(user, aclWords(places.to.build)) }]
  })
  return {
    set: set.flat(),
    remove: [...there.names].filter((name) => !source.names.has(name) && name !== DATABASE_USER).toSorted(),
    obstacles: [...source.obstacles, ...wanted.flatMap(({ obstacles }) => obstacles)],
    lost: wanted.flatMap(({ lost }) => lost),
  }
}

interface Lines {
  readonly users: readonly User[]
  /** Includes users whose line cannot be read. */
  readonly names: ReadonlySet<string>
  readonly obstacles: readonly string[]
}

function* readLines(lines: readonly string[], build: Build): InSteps<Lines> {
  const knows = aclWords(build)
  // Those follow the record on each shard.
  const others = lines.filter((line) => !line.includes(`#${MADE_BY_FAIRLEAD}`))
  const all = yield* mapInSteps(others, (line) => readUser(line, knows))
  const read = all.filter(({ name }) => name !== ADMIN).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return {
    users: read.flatMap((each) => (each.kind === 'user' ? [each.user] : [])),
    names: new Set(read.map(({ name }) => name)),
    obstacles: read.flatMap((each) => (each.kind === 'unreadable' ? [`user ${each.name}: ${each.why}`] : [])),
  }
}

/** Translates a user for the target; null if the target cannot express its rights. */
function* translateUser(
  user: User,
  { from, to, inCluster }: AclPlaces,
): InSteps<{ readonly user: User | null } & Pick<UsersToCarry, 'obstacles' | 'lost'>> {
  if (user.name === DATABASE_USER && (yield* isAsGiven(user, from, inCluster))) {
    return { user: { ...user, root: givenUser(to, inCluster).root }, obstacles: [], lost: [] }
  }
  const parts = yield* mapInSteps([user.root, ...user.selectors], (rules) => ({
    rules,
    translated: translateCommands(rules.commands, from.commands, to.commands),
  }))
  const [root, ...selectors] = parts.map(({ rules, translated }) => ({
    ...rules,
    commands: translated.words,
  }))
  const unsayable = [
    ...whatIsUnsayable(user, to.build),
    ...new Set(parts.flatMap(({ translated }) => translated.unsayable.map((name) => `rights to ${name}`))),
  ]
  const lost = [...new Set(parts.flatMap(({ translated }) => translated.lost))]
  // A build without this word treats all users' payloads alike.
  const sanitizes = user.sanitizes || !aclWords(to.build).sanitizing
  const place = `${to.build.flavour} ${to.build.version}`
  const translated = root && unsayable.length === 0 ? { ...user, sanitizes, root, selectors } : null
  return {
    user: translated && (yield* withinReach(translated, to)),
    obstacles: unsayable.map((what) => `user ${user.name}: ${place} has no words for its ${what}`),
    lost: lost.map((name) => `user ${user.name}: it may use ${name}, which ${place} does not have`),
  }
}

/** Finds words that cannot be dropped: without them the user would gain or lose rights. */
function whatIsUnsayable({ root, selectors }: User, build: Build): readonly string[] {
  const knows = aclWords(build)
  const all = [root, ...selectors]
  const checks: readonly (readonly [boolean, string])[] = [
    [!knows.selectors && selectors.length > 0, 'selectors'],
    [!knows.keyPermissions && all.some(({ keys }) => keys.some(isOneWay)), 'read-only or write-only keys'],
    [!knows.channels && all.some(({ channels }) => !channels.includes('&*')), 'channels'],
    [!knows.databases && all.some(({ databases }) => databases !== 'all'), 'numbered databases'],
  ]
  return checks.flatMap(([fails, what]) => (fails ? [what] : []))
}

function isOneWay(key: string): boolean {
  return key.startsWith('%')
}

/** True if the rules of `default` are unchanged; its passwords are ignored. */
function* isAsGiven(user: User, dialect: AclDialect, inCluster: boolean): InSteps<boolean> {
  const { commands } = dialect
  const given = givenUser(dialect, inCluster)
  const { enabled, passwords: digests, withoutPassword } = user
  const passwords = { enabled, passwords: digests, withoutPassword }
  return (yield* userMeaning(user, commands)) === (yield* userMeaning({ ...given, ...passwords }, commands))
}

/** Returns `default` without a password, as the agent writes it into users.acl (userList). */
function givenUser(dialect: AclDialect, inCluster: boolean): User {
  const { build } = dialect
  const channels = aclWords(build).channels ? ' &*' : ''
  const line = `user ${DATABASE_USER} on ~*${channels} ${databaseUserRights(build, inCluster).join(' ')}`
  const read = readUser(line, aclWords(build))
  if (read.kind !== 'user') throw new Error(`cannot be: ${read.why}`)
  return atOnce(withinReach(read.user, dialect))
}
