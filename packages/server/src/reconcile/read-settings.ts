import type { Build } from '@fairlead/api'
import type { EngineConnection, Reply } from '@fairlead/engine'
import type { AclDialect } from '../core/acl.ts'
import { commandTable } from '../core/command-rights.ts'
import { baselineOf, type Parameters } from '../core/runtime-settings.ts'

/** All parameters of an engine. They hold secrets. */
export async function readParameters(engine: EngineConnection): Promise<Parameters> {
  const words = listOf(await engine.call('CONFIG', 'GET', '*')).map(String)
  const names = words.filter((_, n) => n % 2 === 0)
  return Object.fromEntries(names.map((name, n) => [name, words[2 * n + 1] ?? '']))
}

/** What to remember of a process that has just started, to know later what was set at run time. Without secrets. */
export async function readBaseline(engine: EngineConnection): Promise<Parameters> {
  return baselineOf(await readParameters(engine))
}

/** The users of an engine, as lines of ACL LIST. They hold digests of passwords. */
export async function readUserLines(engine: EngineConnection): Promise<readonly string[]> {
  return listOf(await engine.call('ACL', 'LIST')).map(String)
}

/**
 * What the rules of users can speak of there: its commands and categories, those of modules included. Read once of each build with
 * the same modules: it is hundreds of kilobytes, and takes some 30 ms of a processor.
 */
export async function readAclDialect(engine: EngineConnection, build: Build): Promise<AclDialect> {
  const what = JSON.stringify([build, await engine.call('MODULE', 'LIST')])
  const known = dialects.get(what)
  if (known !== undefined) return known
  const dialect = readCommands(engine, build)
  dialects.set(what, dialect)
  dialect.catch(() => dialects.delete(what))
  return dialect
}

/** One for each build and set of modules that was met: a few. */
const dialects = new Map<string, Promise<AclDialect>>()

async function readCommands(engine: EngineConnection, build: Build): Promise<AclDialect> {
  const commands = listOf(await engine.call('COMMAND')).flatMap(readCommand)
  return { build, commands: commandTable(commands.filter(({ name }) => !traps.has(name))) }
}

/** Lines of HTTP, by which redis 6 knows a browser that was led to it. It lists them as commands, and in the rights of users. */
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
