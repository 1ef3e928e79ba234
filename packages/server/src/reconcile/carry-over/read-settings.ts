import type { Build } from '@fairlead/api'
import type { EngineConnection, Reply } from '@fairlead/engine'
import type { AclDialect } from '../../core/carry-over/acl-dialect.ts'
import { commandTable } from '../../core/carry-over/command-rights.ts'
import { baselineOf, type Parameters } from '../../core/carry-over/runtime-settings.ts'

/** Reads all parameters of an engine. They include secrets. */
export async function readParameters(engine: EngineConnection): Promise<Parameters> {
  const words = listOf(await engine.call('CONFIG', 'GET', '*')).map(String)
  const names = words.filter((_, n) => n % 2 === 0)
  return Object.fromEntries(names.map((name, n) => [name, words[2 * n + 1] ?? '']))
}

/**
 * Reads the parameters of a process that has just started, without secrets; later this shows which settings
 * were made at run time.
 */
export async function readBaseline(engine: EngineConnection): Promise<Parameters> {
  return baselineOf(await readParameters(engine))
}

/** Each user costs a check of hundreds of commands. */
const MOST_USERS = 10_000
/** The largest known engine has some 700, including modules and subcommands. */
const MOST_COMMANDS = 5_000
/** A command is usually in four categories. */
const MOST_PLACES_IN_CATEGORIES = 30_000

/** Reads the users of an engine (lines of ACL LIST, with password digests). Throws above 10,000. */
export async function readUserLines(engine: EngineConnection): Promise<readonly string[]> {
  const lines = listOf(await engine.call('ACL', 'LIST')).map(String)
  if (lines.length > MOST_USERS) throw new Error(`an engine has more than ${MOST_USERS} users`)
  return lines
}

/**
 * Reads the commands and categories that rules of users can name, including modules. Read once for each
 * connection and set of modules (hundreds of KB). Never shared between engines, not even of the same build: a
 * lying engine would change rights in other databases.
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

/** Cache by connection, and so by process: dropped with the connection. */
const dialects = new WeakMap<
  EngineConnection,
  { readonly what: string; readonly dialect: Promise<AclDialect> }
>()

/** Parses once: equal answers of engines of one build are the same object (connection.ts). */
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

/** Lines of HTTP by which Redis 6 recognizes a browser. It lists them as commands and in users' rights. */
const traps: ReadonlySet<string> = new Set(['host:', 'post'])

/** Reads an entry of COMMAND: name, categories (7th field), and since Redis 7 subcommands (10th). */
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

/** Throws if the reply is no list. */
function listOf(reply: Reply): readonly Reply[] {
  if (reply === null || typeof reply === 'string' || typeof reply === 'number')
    throw new Error('the engine answered with something else than a list')
  return reply
}
