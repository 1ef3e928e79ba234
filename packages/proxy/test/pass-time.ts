import { vi } from 'vitest'

/**
 * Returns a function that lets time pass at once: it moves the monotonic clock forward by this many milliseconds. Ends with
 * `vi.restoreAllMocks`.
 */
export function createClock(): (ms: number) => void {
  let ahead = 0
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  return (ms) => {
    ahead += ms
  }
}
