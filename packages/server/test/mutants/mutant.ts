/** One fault that the tests must find: a text of a source file, and what stands there instead. */
export interface Mutant {
  readonly name: string
  /** What it breaks, as ARCHITECTURE.md or the code has it. */
  readonly breaks: string
  /** Below packages/server/src. */
  readonly file: string
  /** It stands there exactly once. */
  readonly text: string
  readonly instead: string
  /** Test files below packages/server/src: at least one of their tests must fail. */
  readonly tests: readonly string[]
  /** A part of the name of the test that must fail, where the others of its file take long. */
  readonly named?: string
}

/** The source with the fault in it. Throws when the text does not stand there exactly once: then the mutant has to be written anew. */
export function mutate(source: string, { name, file, text, instead }: Mutant): string {
  const times = source.split(text).length - 1
  if (times !== 1 || text === instead)
    throw new Error(`mutant "${name}": its text stands ${times} times in ${file}, and must stand there once`)
  return source.replace(text, () => instead)
}
