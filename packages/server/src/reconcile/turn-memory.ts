import type { Verdict } from '../core/topology.ts'

/**
 * What the loop remembers from turn to turn. None of it decides what is true: after a restart of the server waits are
 * measured anew, and progress goes on from what is on record.
 */
export interface TurnMemory {
  /** For how long the verdicts of a database have been waits for the same shard. 0 for any other verdict. */
  waitedMs(databaseUid: number, verdict: Verdict, now: number): number
  /** Why the last step could not be done yet; '' when it was. */
  held(databaseUid: number, why: string): void
  whyHeld(databaseUid: number): string
  stepTaken(databaseUid: number): void
  stepsTaken(databaseUid: number): number
  /** True at most once in `everyMs` for each `what`. */
  isTime(what: string, everyMs: number, now: number): boolean
  /** An action on it ended. */
  forget(databaseUid: number): void
}

export function createTurnMemory(): TurnMemory {
  const waits = new Map<number, { readonly shard: number; readonly since: number }>()
  const steps = new Map<number, number>()
  const holds = new Map<number, string>()
  const times = new Map<string, number>()
  return {
    waitedMs(databaseUid, verdict, now) {
      if (verdict.kind !== 'wait') {
        waits.delete(databaseUid)
        return 0
      }
      const known = waits.get(databaseUid)
      if (known?.shard === verdict.shard) return now - known.since
      waits.set(databaseUid, { shard: verdict.shard, since: now })
      return 0
    },
    held: (databaseUid, why) => void holds.set(databaseUid, why),
    whyHeld: (databaseUid) => holds.get(databaseUid) ?? '',
    stepTaken: (databaseUid) => void steps.set(databaseUid, (steps.get(databaseUid) ?? 0) + 1),
    stepsTaken: (databaseUid) => steps.get(databaseUid) ?? 0,
    isTime(what, everyMs, now) {
      if (now - (times.get(what) ?? 0) < everyMs) return false
      times.set(what, now)
      return true
    },
    forget(databaseUid) {
      waits.delete(databaseUid)
      steps.delete(databaseUid)
      holds.delete(databaseUid)
    },
  }
}
