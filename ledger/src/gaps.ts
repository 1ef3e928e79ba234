/** A time without any acknowledged write. Unix ms, with fraction. */
export interface Gap {
  readonly fromMs: number
  readonly toMs: number
}

export interface Gaps {
  /** A write was acknowledged now. `nowMs` never runs backwards. */
  acked(nowMs: number): void
  /** The load ends here: silence up to this moment counts as well. */
  end(nowMs: number): void
  /** Every gap of `leastMs` or longer, in order. */
  list(): readonly Gap[]
  /**
   * The longest gap that touches the window, in ms and whole (not cut at the window's edges); also one that
   * is still open at `nowMs`. 0 means: none of `leastMs` or longer.
   */
  longestMs(window: Gap, nowMs: number): number
  /** The shortest gap that is remembered. Grows when there are too many. */
  readonly leastMs: number
}

/**
 * Gaps of 3 ms for two minutes fit. If there are more, the shorter half is dropped: only the longest gap
 * matters.
 */
const MOST_GAPS = 40_000

/** Remembers the gaps between acknowledged writes, from `startMs` on. */
export function createGaps(startMs: number, { leastMs = 3, most = MOST_GAPS } = {}): Gaps {
  let gaps: Gap[] = []
  let least = leastMs
  let last = startMs
  let ended = false

  const silence = (nowMs: number) => {
    if (nowMs - last < least) return
    gaps.push({ fromMs: last, toMs: nowMs })
    while (gaps.length > most) {
      least *= 2
      gaps = gaps.filter((gap) => lengthMs(gap) >= least)
    }
  }

  return {
    acked(nowMs) {
      silence(nowMs)
      last = nowMs
    },
    end(nowMs) {
      silence(nowMs)
      last = Math.max(last, nowMs)
      ended = true
    },
    list: () => [...gaps],
    longestMs(window, nowMs) {
      const open = !ended && nowMs - last >= least ? [{ fromMs: last, toMs: nowMs }] : []
      return [...gaps, ...open]
        .filter((gap) => gap.fromMs <= window.toMs && gap.toMs >= window.fromMs)
        .reduce((longest, gap) => Math.max(longest, lengthMs(gap)), 0)
    },
    get leastMs() {
      return least
    },
  }
}

function lengthMs({ fromMs, toMs }: Gap): number {
  return toMs - fromMs
}
