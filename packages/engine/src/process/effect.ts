import { inSpan } from './spans.ts'

/** Carries out one effect, and reports its start and end: for the log, and for tests that crash there. */
export type Effect = <T>(name: string, carryOut: () => Promise<T>) => Promise<T>

/** Carries out named effects on the world. */
export interface EffectRunner {
  readonly effect: Effect
}

/** Creates effects. `look`: called before, and after unless it throws. Each is a span of its action. */
export function createEffect(
  look: (phase: 'before' | 'after', name: string) => Promise<void> | void,
): Effect {
  return async (name, carryOut) => {
    // Not awaited if there is nothing to wait for: the first command is then sent before this returns.
    const before = look('before', name)
    if (before !== undefined) await before
    const result = await inSpan({ name: name.split(' ')[0] ?? name }, carryOut)
    const after = look('after', name)
    if (after !== undefined) await after
    return result
  }
}
