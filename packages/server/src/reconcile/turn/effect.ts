import { inSpan } from '@fairlead/engine'

/** Carries out one effect, and reports its start and end: for the log, and for tests that crash there. */
export type Effect = <T>(name: string, carryOut: () => Promise<T>) => Promise<T>

/** Creates effects. `look`: called before, and after unless it throws. Each is a span of its action. */
export function createEffect(look: (phase: 'before' | 'after', name: string) => void): Effect {
  return async (name, carryOut) => {
    look('before', name)
    const result = await inSpan({ name: name.split(' ')[0] ?? name }, carryOut)
    look('after', name)
    return result
  }
}
