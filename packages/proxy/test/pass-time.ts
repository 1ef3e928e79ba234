import { vi } from 'vitest'

/** Between two looks at the clock no more time passes than this, however long the machine stalls. */
const MOST_MS = 100

/**
 * Returns a function that lets time pass at once: it moves the monotonic clock forward by this many
 * milliseconds. Where the machine stalls, this clock does, too. Ends with `vi.restoreAllMocks`.
 */
export function createClock(): (ms: number) => void {
  const real = performance.now.bind(performance)
  let realMs = real()
  let nowMs = realMs
  vi.spyOn(performance, 'now').mockImplementation(() => {
    const before = realMs
    realMs = real()
    nowMs += Math.min(realMs - before, MOST_MS)
    return nowMs
  })
  return (ms) => {
    nowMs += ms
  }
}
