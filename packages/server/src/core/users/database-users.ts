import type { Build, ShardUsers } from '@fairlead/api'
import { MADE_BY_FAIRLEAD, usersMark } from '@fairlead/engine'
import { ADMIN, DATABASE_USER, sayUser } from '../carry-over/acl-user.ts'
import { aclWords } from '../carry-over/acl-words.ts'
import type { Database } from '../state/database.ts'
import { type AclRules, boundRules, readRules } from './acl-rules.ts'

/** Rules that always exist and cannot be changed. */
export const builtInAcls = [
  { uid: 1, name: 'Full Access', acl: '+@all ~*' },
  { uid: 2, name: 'Read Only', acl: '+@read ~*' },
  { uid: 3, name: 'Not Dangerous', acl: '+@all -@dangerous ~*' },
] as const

/** The last uid of them. */
export const LAST_BUILT_IN_ACL = 3

/** Returns the rule as it is in force: the built-in ones, which name no channels, mean all of them. */
export function effectiveRule({ uid, acl }: { readonly uid: number; readonly acl: string }): string {
  return uid <= LAST_BUILT_IN_ACL ? `${acl} &*` : acl
}

/** Names that engines cannot have, and names of users that are Fairlead's own. */
export function canBeEngineUser(name: string): boolean {
  return !/[\s\p{Cc}]/u.test(name) && ![ADMIN, DATABASE_USER].includes(name.toLowerCase())
}

/** Returns the users that each shard of the database has, besides Fairlead's own, in words for its build. */
export function usersOf(database: Database, build: Build): ShardUsers {
  return {
    defaultUser: database.defaultUser,
    users: database.users
      .filter(({ name, digests }) => canBeEngineUser(name) && digests.length > 0)
      .map(({ name, digests, rules }) => ({
        name,
        words: [
          'on',
          ...digests.map((digest) => `#${digest}`),
          `#${MADE_BY_FAIRLEAD}`,
          ...wordsOf(rules, build, database.cluster),
        ],
      })),
  }
}

/** True if the process of a shard has these users, as its agent reports. */
export function hasUsers(
  database: Database,
  { build, users }: { readonly build: Build; readonly users: string | null },
): boolean {
  return users === null || users === usersMark(usersOf(database, build))
}

/** Returns the words of these rules for an engine, after `reset`: one set of rules, and selectors. */
export function wordsOf(texts: readonly string[], build: Build, inCluster: boolean): readonly string[] {
  const knows = aclWords(build)
  const read = texts.flatMap((text) => {
    const rules = readRules(text)
    return 'fault' in rules ? [] : [rules]
  })
  const parts = read.flat().map((rules) => boundRules(rules, build, inCluster))
  const [root, ...selectors] = parts
  if (root === undefined) return []
  const user = { enabled: true, withoutPassword: false, passwords: [], sanitizes: true, name: '', root }
  // Fewer rights are safe: an engine without selectors gets the first rule.
  const said = sayUser({ ...user, selectors: knows.selectors ? selectors : [] }, knows)
  return said.filter((word) => word !== 'on')
}

/** Says in a sentence why an engine of this build has no words for a rule. */
export function whyUnsayable(rules: AclRules, build: Build): string | undefined {
  const knows = aclWords(build)
  const place = `${build.flavour} ${build.version}`
  if (!knows.selectors && rules.length > 1) return `${place} has no rules in parentheses`
  if (!knows.keyPermissions && rules.some(({ keys }) => keys.some((key) => key.startsWith('%'))))
    return `${place} has no keys for reading or writing only (%R~, %W~)`
  if (!knows.channels && rules.some(({ channels }) => channels.join() !== '&*'))
    return `${place} has no rules for channels: all are allowed, which the rule has to say (&*)`
  return undefined
}
