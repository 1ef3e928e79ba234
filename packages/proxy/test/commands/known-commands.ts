import { splitInline } from '@fairlead/engine'
import type { Engine } from '../stage.ts'
import type { Row } from './row.ts'

/** All commands and subcommands of an engine, in capitals: CLIENT, CLIENT SETNAME. */
export async function commandsOf(engine: Engine): Promise<ReadonlySet<string>> {
  const answer = await engine.admin('COMMAND LIST')
  const lines = answer.split('\r\n').filter((line) => /^[a-zA-Z]/.test(line))
  return new Set(lines.map((line) => line.toUpperCase().replace('|', ' ')))
}

/** Those of `known` of which there is no row. What only has subcommands is asked by them. */
export function withoutRow(known: ReadonlySet<string>, rows: readonly Row[]): readonly string[] {
  const asked = new Set(rows.map(({ name }) => name))
  const withSubcommands = new Set(
    [...known].filter((name) => name.includes(' ')).map((name) => name.split(' ')[0]),
  )
  return [...known].filter((name) => !asked.has(name) && !withSubcommands.has(name)).toSorted()
}

/** Rows that this engine can be asked; those that no engine knows are asked of all. */
export function askable(rows: readonly Row[], known: ReadonlySet<string>): readonly Row[] {
  return rows.filter(({ name }) => known.has(name) || name.includes('NOSUCH'))
}

/** How many words of a row's command are its keys, by the placeholders in it. */
export function keysIn({ ask }: Row): readonly string[] {
  const words = splitInline(Buffer.from(ask, 'latin1')) ?? []
  return [...new Set(words.map(String).filter((word) => /^\$[klm]$/.test(word)))]
}
