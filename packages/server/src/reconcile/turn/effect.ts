import { inSpan } from '@fairlead/engine'

/** Carries out one effect on the world, and tells before and after: for the log, and for tests that crash there. */
export type Effect = <T>(name: string, carryOut: () => Promise<T>) => Promise<T>

/** Effects that `look` sees just before and after they happen; of one that throws only the beginning. Each is a span of the trace of its action. */
export function createEffect(look: (phase: 'before' | 'after', name: string) => void): Effect {
  return async (name, carryOut) => {
    look('before', name)
    const result = await inSpan({ name: name.split(' ')[0] ?? name }, carryOut)
    look('after', name)
    return result
  }
}
