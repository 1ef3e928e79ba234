import { vi } from 'vitest'

/**
 * From now on no timer of this many milliseconds ends by itself, so the speed of the machine does not matter.
 * Until `vi.restoreAllMocks`. Returns the callbacks of these timers, in the order in which they began.
 */
export function holdTimers(ofMs: number): readonly (() => void)[] {
  const real = globalThis.setTimeout
  const held: (() => void)[] = []
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    act: (...args: readonly unknown[]) => void,
    ms?: number,
    ...args: readonly unknown[]
  ) => {
    // What is left of a deadline that begins now is a little less.
    if (Math.ceil(ms ?? 0) !== ofMs) return real(act, ms, ...args)
    held.push(() => act(...args))
    return real(act, 3_600_000, ...args)
  }) as typeof setTimeout)
  return held
}

/** The same, and this process's clock does not advance: a wait for a timer or for the clock stays a wait. */
export function stopClock(withinMs: number): void {
  holdTimers(withinMs)
  vi.spyOn(performance, 'now').mockReturnValue(performance.now())
}
