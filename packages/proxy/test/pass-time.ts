import { vi } from 'vitest'

/** What it returns lets time pass, at once: the clock that only rises goes forward by so many milliseconds. Ends with `vi.restoreAllMocks`. */
export function createClock(): (ms: number) => void {
  let ahead = 0
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  return (ms) => {
    ahead += ms
  }
}
