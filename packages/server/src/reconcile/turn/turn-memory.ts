import { awaitedIn } from '../../core/plan/awaited.ts'
import type { Reported } from '../../core/plan/strangers-to-report.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import type { Verdict } from '../../core/state/topology.ts'

/**
 * Memory of the loop between turns. It never decides what is true: after a server restart waits are measured
 * again, and progress continues from the record.
 */
export interface TurnMemory {
  /**
   * Returns for how long a group has waited for the same thing (core/plan/awaited.ts) without progress; 0 if
   * it does not wait. Long gaps between looks count little: this server or its machine stalled, and perhaps
   * the shard too.
   */
  waitedMs(databaseUid: number, group: number, verdict: Verdict): number
  /** Sets why a group's last step could not be done; undefined if it was. */
  held(databaseUid: number, group: number, obstacle: Obstacle | undefined): void
  /** Returns the obstacle of this group, or of any group. */
  whyHeld(databaseUid: number, group?: number): Obstacle | undefined
  stepTaken(databaseUid: number): void
  stepsTaken(databaseUid: number): number
  /** True at most once in `everyMs` for each `what`. */
  isTime(what: string, everyMs: number): boolean
  /** Returns the ms until it is time; 0 if it is. */
  untilTime(what: string, everyMs: number): number
  /** Called if the work was not done: it is due again immediately. */
  again(what: string): void
  /** Like `again`, for all names with this prefix. */
  allAgain(words: string): void
  /** Former values of temporarily changed settings. */
  readonly notes: Map<string, string>
  /** Map from database to the cluster nodes that are, or were, its shards. */
  readonly metNodes: Map<number, Set<string>>
  /** Map from database to the strangers reported to people, with times (Time.elapsed). */
  readonly reportedStrangers: Map<number, Reported>
  /** Map from database to the work that its last turn postponed. */
  readonly putOff: Map<number, ReadonlySet<string>>
  /** Called when an action on it has ended. */
  forget(databaseUid: number): void
}

/** Prefix of the names of periodic work for an endpoint. */
export const ENDPOINT_OF = 'endpoint of'

/** A waiting database is looked at after a second at most, and a turn takes a few seconds. */
const MOST_BETWEEN_LOOKS_MS = 5_000
/**
 * A lost introduction is repeated after the shortest `cluster-node-timeout` of engines (5 s). Other
 * introductions are waited for in between.
 */
const BY_TURNS_MS = 20_000

/** `clock`: monotonic ms, because a machine's clock may be set back. */
export function createTurnMemory(clock = (): number => performance.now()): TurnMemory {
  const waits = new Map<number, Map<number, Map<string, Wait>>>()
  const steps = new Map<number, number>()
  const holds = new Map<number, Map<number, Obstacle | undefined>>()
  const times = new Map<string, number>()
  const untilTime = (what: string, everyMs: number) =>
    Math.max(0, (times.get(what) ?? Number.NEGATIVE_INFINITY) + everyMs - clock())
  return {
    notes: new Map(),
    metNodes: new Map(),
    reportedStrangers: new Map(),
    putOff: new Map(),
    waitedMs(databaseUid, group, verdict) {
      const now = clock()
      const ofDatabase = of(waits, databaseUid)
      const awaited = awaitedIn(verdict)
      if (awaited === undefined) {
        ofDatabase.delete(group)
        return 0
      }
      const { what, progress, introduces } = awaited
      const before = ofDatabase.get(group)
      const known = before?.get(what)
      const waitedMs =
        known !== undefined && known.progress === progress
          ? known.waitedMs + Math.min(now - known.lookedAt, MOST_BETWEEN_LOOKS_MS)
          : 0
      const others = [...(before ?? [])].filter(
        ([, wait]) => introduces && wait.introduces && now - wait.lookedAt < BY_TURNS_MS,
      )
      ofDatabase.set(group, new Map([...others, [what, { progress, introduces, waitedMs, lookedAt: now }]]))
      return waitedMs
    },
    held(databaseUid, group, obstacle) {
      of(holds, databaseUid).set(group, obstacle)
      // The last of 64 groups may wait for minutes to move its role. Groups that wait for something else name
      // it.
      if (obstacle?.code === 'other_groups') of(waits, databaseUid).delete(group)
    },
    whyHeld: (databaseUid, group) =>
      group === undefined
        ? [...of(holds, databaseUid).values()].find((obstacle) => obstacle !== undefined)
        : of(holds, databaseUid).get(group),
    stepTaken: (databaseUid) => void steps.set(databaseUid, (steps.get(databaseUid) ?? 0) + 1),
    stepsTaken: (databaseUid) => steps.get(databaseUid) ?? 0,
    isTime(what, everyMs) {
      if (untilTime(what, everyMs) > 0) return false
      times.set(what, clock())
      return true
    },
    untilTime,
    again: (what) => void times.delete(what),
    allAgain(words) {
      for (const what of times.keys()) if (what.startsWith(words)) times.delete(what)
    },
    forget(databaseUid) {
      waits.delete(databaseUid)
      steps.delete(databaseUid)
      holds.delete(databaseUid)
    },
  }
}

/**
 * Cause of a turn. `change`: something has changed, was ordered, or is in progress. `time`: postponed work is
 * due, or the safety net has come to the database.
 */
export type Cause = 'change' | 'time'

/** The memory for one turn; tracks when work postponed by the turn is due. */
export interface MemoryOfTurn extends TurnMemory {
  /** Ends the turn. Returns the ms until work is due; infinite if none was postponed. */
  endOfTurn(): number
}

/** Pause before a retry of work that was due and could not be done. */
const TRY_AGAIN_MS = 1_000

/**
 * Tracks postponed work: by `isTime` if false, and by `again`. Without a change, only work that was postponed
 * before is postponed further; otherwise two kinds of upkeep, a second apart, would start turns for each
 * other forever.
 */
export function forOneTurn(memory: TurnMemory, databaseUid: number, cause: Cause): MemoryOfTurn {
  let due = Number.POSITIVE_INFINITY
  const before = memory.putOff.get(databaseUid)
  const putOff = new Set<string>()
  return {
    ...memory,
    isTime(what, everyMs) {
      const left = memory.untilTime(what, everyMs)
      if (left > 0 && (cause === 'change' || before?.has(what) === true)) {
        due = Math.min(due, left)
        putOff.add(what)
      }
      return memory.isTime(what, everyMs)
    },
    again(what) {
      due = Math.min(due, TRY_AGAIN_MS)
      memory.again(what)
    },
    endOfTurn() {
      if (putOff.size > 0) memory.putOff.set(databaseUid, putOff)
      else memory.putOff.delete(databaseUid)
      return due
    },
  }
}

interface Wait {
  readonly progress: number | undefined
  readonly introduces: boolean
  readonly waitedMs: number
  /** In ms of the clock. */
  readonly lookedAt: number
}

function of<T>(maps: Map<number, Map<number, T>>, databaseUid: number): Map<number, T> {
  const known = maps.get(databaseUid) ?? new Map<number, T>()
  maps.set(databaseUid, known)
  return known
}
