import { EngineError, printable } from '@fairlead/engine'

/** The engine's words when it refuses a command; undefined when it obeys. */
export async function refusalOf(act: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await act()
    return undefined
  } catch (cause) {
    if (cause instanceof EngineError) return cause.message
    throw cause
  }
}

/** The engine's error text, unless it quotes an argument of the command: that may be a password or another secret. */
export function explainRefusal(why: string, args: readonly string[]): string {
  const [, , ...given] = args
  // Nothing is known about the part that was cut off.
  const quotes = why.endsWith('…') || given.some((each) => each !== '' && why.includes(printable(each)))
  return quotes ? ': the engine refuses it' : `: the engine refuses it (${why})`
}
