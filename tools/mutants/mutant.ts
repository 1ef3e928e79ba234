/** One fault that the tests must find: a text of a source file, and its replacement. */
export interface Mutant {
  readonly name: string
  /** The rule that the fault breaks, in the words of docs/invariants.md or of the code. */
  readonly breaks: string
  /** From the root of the repository, as the tests are. */
  readonly file: string
  /** The text to replace, which occurs exactly once. */
  readonly text: string
  readonly instead: string
  /** Unit or component tests: at least one test of these files must fail. */
  readonly tests: readonly string[]
  /** A part of the name of the test that must fail; set where the other tests of its file are slow. */
  readonly named?: string
}

/**
 * The source with the fault in it. Throws when the text does not occur exactly once: then the mutant has to
 * be rewritten.
 */
export function mutate(source: string, { name, file, text, instead }: Mutant): string {
  const times = source.split(text).length - 1
  if (times !== 1 || text === instead)
    throw new Error(`mutant "${name}": its text stands ${times} times in ${file}, and must stand there once`)
  return source.replace(text, () => instead)
}
