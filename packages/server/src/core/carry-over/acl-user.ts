import type { AclWords } from './acl-words.ts'
import { type CommandTable, commandRights } from './command-rights.ts'
import { type InSteps, mapInSteps } from './in-steps.ts'

/** The administrative user, separate for each shard, with rules for its build. */
export const ADMIN = 'fairlead'
/** The database's user. Each shard gets it from its agent, with rules for its build. */
export const DATABASE_USER = 'default'

/** A user of an engine, as in ACL LIST. */
export interface User {
  readonly name: string
  readonly enabled: boolean
  readonly withoutPassword: boolean
  /** SHA-256 digests in hex. Carried unchanged, and never part of a message. */
  readonly passwords: readonly string[]
  /** True if payloads that it sends with RESTORE are checked completely. */
  readonly sanitizes: boolean
  readonly root: Rules
  /** Each selector grants separate rights in addition to the root. */
  readonly selectors: readonly Rules[]
}

/** Allowed commands, keys, channels and databases. */
export interface Rules {
  /** "~foo:*"; "%R~foo:*" and "%W~foo:*" for reading and writing only. */
  readonly keys: readonly string[]
  /** For example "&foo:*". */
  readonly channels: readonly string[]
  /** Numbers, as printed; only Valkey 9 limits them. */
  readonly databases: 'all' | readonly string[]
  /** For example "+@all", "-client|kill"; in order. */
  readonly commands: readonly string[]
}

export type ReadUser =
  | { readonly kind: 'user'; readonly name: string; readonly user: User }
  | { readonly kind: 'unreadable'; readonly name: string; readonly why: string }

/** Limits for one user. The longest rules of real applications have a few KB and a handful of selectors. */
const LONGEST_LINE = 1024 * 1024
const MOST_WORDS = 2_000
const MOST_SELECTORS = 100
/** Longest name shown to people for a line that is too long to be read. */
const LONGEST_NAME = 200

const parenthesis =
  'it has a selector with a parenthesis in a rule, where its engine ends the selector at the next start'

/** Reads a line of ACL LIST from a build with this vocabulary. A line beyond the limits is not read. */
export function readUser(line: string, knows: AclWords): ReadUser {
  if (line.length > LONGEST_LINE) {
    const [, name = ''] = line.slice(0, LONGEST_NAME).split(' ')
    return { kind: 'unreadable', name, why: 'its rules are longer than 1 MB, and are not read' }
  }
  const [, name = '', ...words] = line.split(' ').filter((word) => word !== '')
  // Bytes that are not UTF-8 were replaced on reading: sent back, this would be another name or key.
  if (line.includes('\ufffd')) return { kind: 'unreadable', name, why: 'it is not written in UTF-8' }
  if (words.length > MOST_WORDS)
    return { kind: 'unreadable', name, why: `it has more than ${MOST_WORDS} words of rules` }
  const { outside, selectors } = splitSelectors(words)
  if (selectors.length > MOST_SELECTORS)
    return { kind: 'unreadable', name, why: `it has more than ${MOST_SELECTORS} selectors` }
  if (selectors.some((rules) => rules.some((word) => /[()]/.test(word))))
    return { kind: 'unreadable', name, why: parenthesis }
  const aside = outside.filter((word) => isAboutUser(word))
  const rules = [outside.filter((word) => !isAboutUser(word)), ...selectors].map((part) =>
    readRules(part, knows),
  )
  const strange = rules.flatMap((each) => each.strange)
  if (strange.length > 0) {
    const kinds = [...new Set(strange.map((word) => /^[a-z-]+/.exec(word)?.[0] ?? 'a sign'))]
    return { kind: 'unreadable', name, why: `it has rules that Fairlead does not know (${kinds.join(', ')})` }
  }
  const [root, ...more] = rules.map((each) => each.rules)
  if (!root) throw new Error('a line has a root')
  const user: User = {
    name,
    enabled: aside.includes('on'),
    withoutPassword: aside.includes('nopass'),
    passwords: aside.filter((word) => word.startsWith('#')).map((word) => word.slice(1)),
    sanitizes: !aside.includes('skip-sanitize-payload'),
    root,
    selectors: more,
  }
  return { kind: 'user', name, user }
}

/** Returns the rules after `reset` for a build with this vocabulary. Other words must not matter. */
export function sayUser(user: User, knows: AclWords): readonly string[] {
  return [
    user.enabled ? 'on' : 'off',
    ...(user.withoutPassword ? ['nopass'] : user.passwords.map((digest) => `#${digest}`)),
    ...(knows.sanitizing && !user.sanitizes ? ['skip-sanitize-payload'] : []),
    ...sayRules(user.root, knows),
    ...user.selectors.map((rules) => `(${sayRules(rules, knows).join(' ')})`),
  ]
}

/** Returns equal texts for equal rights (on a build with these commands) and passwords. Never show it. */
export function* userMeaning(user: User, commands: CommandTable): InSteps<string> {
  const [root, ...selectors] = yield* mapInSteps([user.root, ...user.selectors], (rules) =>
    rulesMeaning(rules, commands),
  )
  return JSON.stringify([
    user.enabled,
    user.withoutPassword ? 'any' : [...new Set(user.passwords)].toSorted(),
    user.sanitizes,
    root,
    [...new Set(selectors)].toSorted(),
  ])
}

function isAboutUser(word: string): boolean {
  return /^(on|off|nopass|sanitize-payload|skip-sanitize-payload)$|^#/.test(word)
}

/**
 * Splits off the selectors: each is in parentheses at the end of the line, holds spaces, and ends where the
 * next one begins. Its rules may contain parentheses, too, as in `(~a) +get)`.
 */
function splitSelectors(words: readonly string[]): {
  readonly outside: readonly string[]
  readonly selectors: readonly (readonly string[])[]
} {
  const first = words.findIndex((word) => word.startsWith('('))
  if (first < 0) return { outside: words, selectors: [] }
  const outside = words.slice(0, first)
  const selectors: string[][] = []
  for (const word of words.slice(first)) {
    if (word.startsWith('(')) selectors.push([])
    selectors.at(-1)?.push(word)
  }
  // Parentheses do not match: "(" stays as an unknown word.
  if (selectors.some((part) => part.at(-1)?.endsWith(')') !== true))
    return { outside: [...outside, '('], selectors: [] }
  const inside = selectors.map((part) => part.join(' ').slice(1, -1).split(' '))
  return { outside, selectors: inside.map((part) => part.filter((word) => word !== '')) }
}

function readRules(
  words: readonly string[],
  knows: AclWords,
): { readonly rules: Rules; readonly strange: readonly string[] } {
  const keys: string[] = []
  const channels: string[] = knows.channels ? [] : ['&*']
  const commands: string[] = []
  const strange: string[] = []
  let databases: Rules['databases'] = 'all'
  for (const word of words) {
    if (/^(%R|%W)?~/.test(word)) keys.push(word)
    else if (word.startsWith('&')) channels.push(word)
    else if (/^[+-]/.test(word)) commands.push(word)
    else if (word === 'alldbs') databases = 'all'
    else if (word === 'resetdbs') databases = []
    else if (word.startsWith('db=')) databases = word.slice(3).split(',')
    else if (word !== 'resetchannels') strange.push(word)
  }
  return { rules: { keys, channels, databases, commands }, strange }
}

function sayRules({ keys, channels, databases, commands }: Rules, knows: AclWords): readonly string[] {
  return [
    ...keys,
    ...(knows.channels ? ['resetchannels', ...channels] : []),
    ...(databases === 'all' ? [] : ['resetdbs']),
    ...(databases === 'all' || databases.length === 0 ? [] : [`db=${databases.join(',')}`]),
    ...commands,
  ]
}

function rulesMeaning({ keys, channels, databases, commands }: Rules, table: CommandTable): string {
  const { others, allowed, firstArguments } = commandRights(commands, table)
  return JSON.stringify([
    keys.includes('~*') ? ['~*'] : [...new Set(keys)].toSorted(),
    channels.includes('&*') ? ['&*'] : [...new Set(channels)].toSorted(),
    databases === 'all' ? databases : [...new Set(databases)].toSorted(),
    others,
    [...allowed].toSorted(),
    [...firstArguments].toSorted(),
  ])
}
