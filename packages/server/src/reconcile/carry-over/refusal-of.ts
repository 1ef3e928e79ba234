import { EngineError, printable } from '@fairlead/engine'

/** Returns the engine's error if it refuses a command; undefined if it obeys. */
export async function refusalOf(act: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await act()
    return undefined
  } catch (cause) {
    if (cause instanceof EngineError) return cause.message
    throw cause
  }
}

/** Returns the engine's error text, unless it quotes an argument: that may be a password or a secret. */
export function explainRefusal(why: string, args: readonly string[]): string {
  const [, , ...given] = args
  // The part that was cut off is unknown.
  const quotes = why.endsWith('…') || given.some((each) => each !== '' && why.includes(printable(each)))
  return quotes ? ': the engine refuses it' : `: the engine refuses it (${why})`
}
