import { splitInline } from '@fairlead/engine'
import type { Engine } from '../stage.ts'
import type { Row } from './row.ts'

/** All commands and subcommands of an engine, in capitals: CLIENT, CLIENT SETNAME. */
export async function commandsOf(engine: Engine): Promise<ReadonlySet<string>> {
  const answer = await engine.admin('COMMAND LIST')
  const lines = answer.split('\r\n').filter((line) => /^[a-zA-Z]/.test(line))
  return new Set(lines.map((line) => line.toUpperCase().replace('|', ' ')))
}

/** The commands of `known` without a row. A command that only has subcommands is covered by their rows. */
export function withoutRow(known: ReadonlySet<string>, rows: readonly Row[]): readonly string[] {
  const asked = new Set(rows.map(({ name }) => name))
  const withSubcommands = new Set(
    [...known].filter((name) => name.includes(' ')).map((name) => name.split(' ')[0]),
  )
  return [...known].filter((name) => !asked.has(name) && !withSubcommands.has(name)).toSorted()
}

/** The rows for this engine; rows of commands that no engine knows are for all engines. */
export function askable(rows: readonly Row[], known: ReadonlySet<string>): readonly Row[] {
  return rows.filter(({ name }) => known.has(name) || name.includes('NOSUCH'))
}

/** The number of keys in a row's command, counted by their placeholders. */
export function keysIn({ ask }: Row): readonly string[] {
  const words = splitInline(Buffer.from(ask, 'latin1')) ?? []
  return [...new Set(words.map(String).filter((word) => /^\$[klm]$/.test(word)))]
}
