import { awaitedIn } from '../../core/plan/awaited.ts'
import type { Reported } from '../../core/plan/strangers-to-report.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import type { Verdict } from '../../core/state/topology.ts'

/**
 * What the loop remembers from turn to turn. None of it decides what is true: after a restart of the server waits are
 * measured anew, and progress goes on from what is on record.
 */
export interface TurnMemory {
  /**
   * For how long the verdicts of a group have been waits for the same thing (core/plan/awaited.ts), which did not move on. 0 when it waits for nothing. Time in
   * which nothing was looked at counts little: this server, or its machine, stalled then, and the shard may have as well.
   */
  waitedMs(databaseUid: number, group: number, verdict: Verdict): number
  /** Why the last step of a group could not be done yet; undefined when it was. */
  held(databaseUid: number, group: number, obstacle: Obstacle | undefined): void
  /** Of any group of the database, or of the one with this number. */
  whyHeld(databaseUid: number, group?: number): Obstacle | undefined
  stepTaken(databaseUid: number): void
  stepsTaken(databaseUid: number): number
  /** True at most once in `everyMs` for each `what`. */
  isTime(what: string, everyMs: number): boolean
  /** For how long it is not time yet; 0: it is. */
  untilTime(what: string, everyMs: number): number
  /** The work was not done: it is time for it again at once. */
  again(what: string): void
  /** The same for all names that begin with these words. */
  allAgain(words: string): void
  /** Former values of settings that were changed for a while. */
  readonly notes: Map<string, string>
  /** By database, the nodes in cluster mode that are its shards, or were. */
  readonly metNodes: Map<number, Set<string>>
  /** By database, the strangers in its cluster that were reported to people, and when (Time.elapsed). */
  readonly reportedStrangers: Map<number, Reported>
  /** By database, the work that its last turn has put off. */
  readonly putOff: Map<number, ReadonlySet<string>>
  /** An action on it ended. */
  forget(databaseUid: number): void
}

/** The names of periodic work for an endpoint begin with this. */
export const ENDPOINT_OF = 'endpoint of'

/** A database that waits is looked at again after a second at most, and a turn takes a few seconds. */
const MOST_BETWEEN_LOOKS_MS = 5_000
/** An introduction that does not arrive is repeated after the shortest `cluster-node-timeout` of engines, which is 5 s. Other introductions are waited for in between. */
const BY_TURNS_MS = 20_000

/** `clock`: milliseconds that only rise; a machine's own time may be set back. */
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
      // The last of 64 groups may wait for minutes until its role may move. If the others wait for something, they say so themselves.
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

/** Why a turn takes place. `change`: something has changed, was ordered, or is in progress. `time`: work that was put off is due, or the safety net has come to the database. */
export type Cause = 'change' | 'time'

/** The same memory for one turn, which keeps when the work that the turn has put off is due. */
export interface MemoryOfTurn extends TurnMemory {
  /** The turn ends. In how many milliseconds something is due; infinite: nothing was put off. */
  endOfTurn(): number
}

/** How soon work that was due and could not be done is tried again. */
const TRY_AGAIN_MS = 1_000

/**
 * Work is put off when `isTime` answers false, and by `again`. If nothing has happened, only work that was put off before is put off further: work that has just been
 * done needs no further turn. Otherwise two kinds of upkeep, one a second after the other, would begin turns for each other endlessly.
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
  /** In milliseconds of the clock. */
  readonly lookedAt: number
}

function of<T>(maps: Map<number, Map<number, T>>, databaseUid: number): Map<number, T> {
  const known = maps.get(databaseUid) ?? new Map<number, T>()
  maps.set(databaseUid, known)
  return known
}
