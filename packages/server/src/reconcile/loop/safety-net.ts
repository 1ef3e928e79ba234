/** Looks at each database at rest periodically, in case a change was missed. Dispose to stop. */
export interface SafetyNet extends Disposable {
  /** The database rests from now on. */
  add(databaseUid: number): void
  /** The database has a turn, or is gone. */
  remove(databaseUid: number): void
}

/** Interval for looking at a database at rest. Changes are heard (hear-changes.ts). */
export const REST_MS = 50_000
/** Databases due this soon are included in a look: waking server and agent costs more than some looks. */
const GATHERED_MS = 2_500
/**
 * Databases per second, longest rest first. This bounds the cost: up to 200 databases get a look every 50 s,
 * each of 10,000 within 42 minutes.
 */
const AT_ONCE = 4
const PACE_MS = 1_000

/** `look` begins the turn of a database, which removes it here. */
export function createSafetyNet(look: (databaseUid: number) => void): SafetyNet {
  /** Map from database to the start of its rest, oldest first. */
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
    // A timer may fire early, and the oldest entry may have changed.
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

/** Returns the first entries, without a list of all. */
function firstOf<Entry>(entries: Iterable<Entry>, count: number): readonly Entry[] {
  const first: Entry[] = []
  for (const entry of entries) {
    first.push(entry)
    if (first.length === count) break
  }
  return first
}
