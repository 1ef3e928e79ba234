import { vi } from 'vitest'

/**
 * From now on no timer of so many milliseconds comes to its end by itself, so that it does not matter how long the machine takes for the
 * rest. Until `vi.restoreAllMocks`. Returns what they would do, in the order in which they began.
 */
export function holdTimers(ofMs: number): readonly (() => void)[] {
  const real = globalThis.setTimeout
  const held: (() => void)[] = []
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void, ms?: number) => {
    if (ms !== ofMs) return real(act, ms)
    held.push(act)
    return real(act, 3_600_000)
  }) as typeof setTimeout)
  return held
}

/** The same, and this process's clock stands still: what waits for either is seen to wait. */
export function stopClock(withinMs: number): void {
  holdTimers(withinMs)
  vi.spyOn(performance, 'now').mockReturnValue(performance.now())
}
