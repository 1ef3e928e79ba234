/** Maximum (ms) that a standstill of this thread counts. */
export const SLICE_MS = 500

/**
 * Calls `act` after this thread has run for `ms`: if the machine was stopped, the other side had no time
 * either. Dispose to cancel.
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
