import type { Build } from '@fairlead/api'
import type { EngineConnection, Reply } from '@fairlead/engine'
import type { AclDialect } from '../../core/carry-over/acl-dialect.ts'
import { commandTable } from '../../core/carry-over/command-rights.ts'
import { baselineOf, type Parameters } from '../../core/carry-over/runtime-settings.ts'

/** All parameters of an engine. They hold secrets. */
export async function readParameters(engine: EngineConnection): Promise<Parameters> {
  const words = listOf(await engine.call('CONFIG', 'GET', '*')).map(String)
  const names = words.filter((_, n) => n % 2 === 0)
  return Object.fromEntries(names.map((name, n) => [name, words[2 * n + 1] ?? '']))
}

/** What is kept about a process that has just started, to know later which settings were made at run time. Without secrets. */
export async function readBaseline(engine: EngineConnection): Promise<Parameters> {
  return baselineOf(await readParameters(engine))
}

/** Each user costs a check of hundreds of commands. */
const MOST_USERS = 10_000
/** The largest known engine has some 700, modules and subcommands included. */
const MOST_COMMANDS = 5_000
/** A command is usually in four categories. */
const MOST_PLACES_IN_CATEGORIES = 30_000

/** The users of an engine, as lines of ACL LIST. They hold digests of passwords. Throws when it says that it has more than 10,000. */
export async function readUserLines(engine: EngineConnection): Promise<readonly string[]> {
  const lines = listOf(await engine.call('ACL', 'LIST')).map(String)
  if (lines.length > MOST_USERS) throw new Error(`an engine has more than ${MOST_USERS} users`)
  return lines
}

/**
 * What the rules of users can name there: its commands and categories, those of modules included. Read once for each connection with the
 * same modules, because the answer has hundreds of kilobytes. The answer of one engine is never used for
 * another one, not even of the same build: an engine may lie, and that would change the rights of users of other databases.
 */
export async function readAclDialect(engine: EngineConnection, build: Build): Promise<AclDialect> {
  const what = JSON.stringify([build, await engine.call('MODULE', 'LIST')])
  const known = dialects.get(engine)
  if (known?.what === what) return known.dialect
  const dialect = engine.call('COMMAND').then((reply) => dialectOf(listOf(reply), build))
  dialects.set(engine, { what, dialect })
  dialect.catch(() => dialects.delete(engine))
  return dialect
}

/** By connection, and so by process: the entry is dropped with the connection. */
const dialects = new WeakMap<
  EngineConnection,
  { readonly what: string; readonly dialect: Promise<AclDialect> }
>()

/** Many engines of one build give the same answer, which is one object then (connection.ts): it is parsed once. */
function dialectOf(reply: readonly Reply[], build: Build): AclDialect {
  const known = ofReplies.get(reply)
  if (known?.build.flavour === build.flavour && known.build.version === build.version) return known
  const dialect = readCommands(reply, build)
  ofReplies.set(reply, dialect)
  return dialect
}

const ofReplies = new WeakMap<readonly Reply[], AclDialect>()

function readCommands(reply: readonly Reply[], build: Build): AclDialect {
  const commands = reply.flatMap(readCommand)
  if (commands.length > MOST_COMMANDS) throw new Error(`an engine has more than ${MOST_COMMANDS} commands`)
  if (commands.reduce((sum, { categories }) => sum + categories.length, 0) > MOST_PLACES_IN_CATEGORIES)
    throw new Error(
      `an engine has its commands in more than ${MOST_PLACES_IN_CATEGORIES} places of categories`,
    )
  return { build, commands: commandTable(commands.filter(({ name }) => !traps.has(name))) }
}

/** Lines of HTTP, by which redis 6 recognizes a browser that a web page sent to it. It lists them as commands, and in the rights of users. */
const traps: ReadonlySet<string> = new Set(['host:', 'post'])

/** An entry of COMMAND: the name first, categories in the 7th place; since redis 7, subcommands in the 10th. */
function readCommand(
  entry: Reply,
): readonly { readonly name: string; readonly categories: readonly string[] }[] {
  const [name, , , , , , categories, , , subcommands] = listOf(entry)
  return [
    {
      name: String(name).toLowerCase(),
      categories: listOf(categories ?? []).map((category) => String(category).replace(/^@/, '')),
    },
    ...listOf(subcommands ?? []).flatMap(readCommand),
  ]
}

/** Throws when the engine did not answer with a list. */
function listOf(reply: Reply): readonly Reply[] {
  if (reply === null || typeof reply === 'string' || typeof reply === 'number')
    throw new Error('the engine answered with something else than a list')
  return reply
}
