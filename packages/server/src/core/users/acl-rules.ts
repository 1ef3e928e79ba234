import type { Build } from '@fairlead/api'
import { databaseUserRights } from '@fairlead/engine'
import type { Rules } from '../carry-over/acl-user.ts'

/** The parts of a rule: a command is allowed if one part allows it. The first is outside of parentheses. */
export type AclRules = readonly [Rules, ...Rules[]]

/** Reads a rule in the engines' words. Says in a sentence why it cannot be a rule. */
export function readRules(text: string): AclRules | { readonly fault: string } {
  const words = text.match(/\([^()]*\)|[^\s()]+|[()]/g) ?? []
  const isSelector = (word: string) => /^\(.*\)$/.test(word)
  const outside = words.filter((word) => !isSelector(word))
  const selectors = words.filter(isSelector).map((word) => word.slice(1, -1).trim().split(/\s+/))
  const strange = [...outside, ...selectors.flat()].find((word) => !isRule(word))
  if (strange !== undefined) return { fault: faultOf(strange) }
  return [readPart(outside), ...selectors.map(readPart)]
}

const ofKeys = /^(%R|%W|%RW)?~\S+$/i
const ofChannels = /^&\S+$/
const ofCommands = /^[+-]@?[a-z0-9_.:-]+(\|[a-z0-9_.:-]+)?$/i
const inWords = ['allkeys', 'resetkeys', 'allchannels', 'resetchannels', 'allcommands', 'nocommands']

function isRule(word: string): boolean {
  return [ofKeys, ofChannels, ofCommands].some((form) => form.test(word)) || inWords.includes(word)
}

/** A word that may be a password is not repeated. */
function faultOf(word: string): string {
  if (/^[<>#!]/.test(word)) return 'passwords are those of the users, and no part of a rule'
  if (/^(on|off|nopass|reset|resetpass)$/.test(word))
    return `${word} is no part of a rule: it says what users may do, not who signs in`
  if (/^[()]$/.test(word)) return 'a parenthesis has no other one, or stands within parentheses'
  return 'it has a word that is none of commands (+get, -@dangerous), keys (~app:*) and channels (&news:*)'
}

function readPart(words: readonly string[]): Rules {
  const after = (reset: string) => words.slice(words.lastIndexOf(reset) + 1)
  const keys = after('resetkeys').flatMap((word) => {
    if (word === 'allkeys') return ['~*']
    return ofKeys.test(word) ? [word.replace(/^%[a-z]+/i, (prefix) => prefix.toUpperCase())] : []
  })
  const channels = after('resetchannels').flatMap((word) => {
    if (word === 'allchannels') return ['&*']
    return ofChannels.test(word) ? [word] : []
  })
  return {
    keys: distinct(
      keys.map((word) => word.replace(/^%RW~/, '~')),
      '~*',
    ),
    channels: distinct(channels, '&*'),
    databases: 'all',
    commands: words.flatMap((word) => {
      if (word === 'allcommands') return ['+@all']
      if (word === 'nocommands') return ['-@all']
      return ofCommands.test(word) ? [word.toLowerCase()] : []
    }),
  }
}

/** Engines refuse further patterns beside the one for all. */
function distinct(patterns: readonly string[], all: string): readonly string[] {
  return patterns.includes(all) ? [all] : [...new Set(patterns)]
}

/**
 * Takes from rules what the database's own user may not do, whatever they say: administration, and commands
 * beyond the database. Before Redis 7, harmless parts of such commands stay where the rules allow them.
 */
export function boundRules(rules: Rules, build: Build, inCluster: boolean): Rules {
  const given = databaseUserRights(build, inCluster)
  const denied = given.filter((word) => word.startsWith('-'))
  const harmless = given.filter((word) => /^\+[^@]+\|/.test(word))
  const kept = harmless.filter((word) => rules.commands.includes(word) || allows(rules.commands, word))
  // There a denied category takes no subcommand back that was allowed by name.
  const isOld = harmless.length > 0
  const commands = isOld ? rules.commands.filter((word) => !isAdministration(word)) : rules.commands
  return { ...rules, commands: [...commands, ...denied, ...kept] }
}

function isAdministration(word: string): boolean {
  const [, command = ''] = /^\+([^@|]+)\|/.exec(word) ?? []
  return administrative.includes(command)
}

/** Administrative commands with subcommands before Redis 7. */
const administrative = ['acl', 'client', 'cluster', 'config', 'debug', 'latency', 'module', 'slowlog']

/** Categories before Redis 7 of the commands that have harmless parts. */
const categories: Readonly<Record<string, readonly string[]>> = {
  client: ['@admin', '@slow', '@dangerous', '@connection'],
  acl: ['@admin', '@slow', '@dangerous'],
  cluster: ['@admin', '@slow', '@dangerous'],
  script: ['@slow', '@scripting'],
}

function allows(commands: readonly string[], subcommand: string): boolean {
  const command = subcommand.slice(1).split('|', 1)[0] ?? ''
  const subjects = ['@all', command, ...(categories[command] ?? [])]
  return commands.findLast((word) => subjects.includes(word.slice(1)))?.startsWith('+') === true
}
