/** The most that counts of a moment in which this thread stands still, in milliseconds. */
export const SLICE_MS = 500

/**
 * Calls `act` when this thread has run for `ms`. If the whole machine was stopped meanwhile, the other side has had no
 * time either. Disposing of it ends it.
 */
export function awakeTimer(ms: number, act: () => void): Disposable {
  let left = ms
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    if (left <= 0) return act()
    const slice = Math.min(left, SLICE_MS)
    left -= slice
    timer = setTimeout(next, slice)
  }
  next()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
