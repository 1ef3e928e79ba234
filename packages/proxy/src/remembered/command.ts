/** A command that changes a connection, or its moving. `args` are without the name. */
export interface Command {
  /** In capitals. */
  readonly name: string
  readonly args: readonly Buffer[]
  /** True: `args` are only a part of the sent arguments. */
  readonly cutShort: boolean
}

/** No word that decides something is so long. */
const LONGEST_WORD = 64

/** An argument in capitals; empty when the command has no such argument. `at` counts from 0. Of a longer argument the beginning, because it may have megabytes. */
export function wordAt({ args }: Command, at: number): string {
  const arg = args[at]
  return arg === undefined ? '' : capitalsOf(arg)
}

/** A word in capitals, for comparison: see wordAt. */
export function capitalsOf(word: Buffer): string {
  return word.toString('latin1', 0, LONGEST_WORD).toUpperCase()
}

/**
 * Whether an argument is `word` (capitals), in any case. No text is made of it: a command of a transaction may have 250,000 arguments, and all of them are
 * looked at in one turn.
 */
export function isWord(arg: Buffer | undefined, word: string): boolean {
  if (arg?.length !== word.length) return false
  for (let at = 0; at < word.length; at += 1) {
    const byte = arg[at] ?? 0
    if ((byte >= SMALL_A && byte <= SMALL_Z ? byte - 0x20 : byte) !== word.charCodeAt(at)) return false
  }
  return true
}

const SMALL_A = 0x61
const SMALL_Z = 0x7a

/** Whether one of the arguments is `word`: see isWord. */
export function hasWord(args: readonly Buffer[], word: string): boolean {
  return args.some((arg) => isWord(arg, word))
}
