/** Looks at each database at rest once in a while, in case a change was missed. Disposed of, it looks at none. */
export interface SafetyNet extends Disposable {
  /** It rests from now on. */
  add(databaseUid: number): void
  /** It has a turn, or is gone. */
  remove(databaseUid: number): void
}

/** A database that rests is looked at again after this long. Changes are heard (hear-changes.ts). */
export const REST_MS = 50_000
/** Whichever will have rested for that long so soon is looked at together with one that has: to wake up server and agent costs more than some looks do. */
const GATHERED_MS = 2_500
/**
 * No more than so many each second, over all of them: so what the safety net costs has a bound, whatever their number. Up to 200 databases each has its look
 * every 50 s; of 10,000 each within 42 minutes. The one that has rested for the longest comes first.
 */
const AT_ONCE = 4
const PACE_MS = 1_000

/** `look` begins the turn of a database, which is removed by that. */
export function createSafetyNet(look: (databaseUid: number) => void): SafetyNet {
  /** Since when each rests; in this order. */
  const resting = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  const wait = () => {
    const [oldest] = resting
    if (timer !== undefined || oldest === undefined) return
    const dueAt = Math.max(oldest[1] + REST_MS, lookedAt + PACE_MS)
    timer = setTimeout(next, Math.max(0, dueAt - performance.now()))
  }
  const next = () => {
    timer = undefined
    const now = performance.now()
    const [oldest] = resting
    // A timer may fire a little early, and the oldest may be another one by now.
    if (oldest !== undefined && now >= oldest[1] + REST_MS - 1) {
      lookedAt = now
      const due = firstOf(resting, AT_ONCE).filter(([, since]) => now >= since + REST_MS - GATHERED_MS)
      for (const [uid] of due) resting.delete(uid)
      for (const [uid] of due) look(uid)
    }
    wait()
  }
  return {
    add(databaseUid) {
      resting.delete(databaseUid)
      resting.set(databaseUid, performance.now())
      wait()
    },
    remove: (databaseUid) => void resting.delete(databaseUid),
    [Symbol.dispose]() {
      clearTimeout(timer)
      resting.clear()
    },
  }
}

/** Of thousands, without a list of all. */
function firstOf<Entry>(entries: Iterable<Entry>, count: number): readonly Entry[] {
  const first: Entry[] = []
  for (const entry of entries) {
    first.push(entry)
    if (first.length === count) break
  }
  return first
}
