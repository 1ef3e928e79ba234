/** Of a moment in which this thread stands still, no more than this counts. */
export const SLICE_MS = 500

/**
 * Calls `act` when this thread has run for `ms`: it may have been stopped meanwhile, with the rest of the machine, and then the other side has had
 * no time either. Disposing of it ends it.
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
