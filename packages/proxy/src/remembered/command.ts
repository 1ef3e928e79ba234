/** A command that matters for the connection or its moving. `args` exclude the name. */
export interface Command {
  /** In capitals. */
  readonly name: string
  readonly args: readonly Buffer[]
  /** True if `args` hold only a part of the sent arguments. */
  readonly cutShort: boolean
}

/** No significant word is longer. */
const LONGEST_WORD = 64

/** Returns the argument at index `at` in capitals, cut after 64 bytes; empty if there is none. */
export function wordAt({ args }: Command, at: number): string {
  const arg = args[at]
  return arg === undefined ? '' : capitalsOf(arg)
}

/** Returns a word in capitals, cut like wordAt. */
export function capitalsOf(word: Buffer): string {
  return word.toString('latin1', 0, LONGEST_WORD).toUpperCase()
}

/**
 * True if an argument is `word` (capitals) in any case. Compares bytes: a command may have 250,000 arguments,
 * all examined in one turn.
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

/** True if one of the arguments is `word`: see isWord. */
export function hasWord(args: readonly Buffer[], word: string): boolean {
  return args.some((arg) => isWord(arg, word))
}
