import type { ActionOutcome, ActionPhase, ActionState, HoldReason } from '@fairlead/api'
import { type Goal, runsOf } from './goal.ts'
import type { LaneRecord, WaitingSince } from './lane-record.ts'
import type { Orders } from './orders.ts'
import type { WayBack } from './way-back.ts'

/**
 * A long operation, from the request to its end. `needsPerson` is true while it runs with an obstacle that
 * only a person can resolve.
 * - `queued`: accepted; the reconciler has not looked at it, or other upgrades must end first. Ends with its
 *   first turn.
 * - `running`: the planner leads the database to `goal`. Ends as `done`; if the goal is hopeless or a person
 *   takes it back, it continues with the undoing goal and ends as `failed`.
 * - `done`, `failed`: final. `error` is the reason of a failure; the database serves as before.
 */
export interface Action {
  readonly uid: string
  readonly databaseUid: number
  readonly kind: 'create' | 'upgrade' | 'change' | 'delete'
  readonly status: ActionStatus
  readonly goal: Goal
  /** The accepted goal: an undo changes `goal`, and can itself be undone. */
  readonly asked: Goal
  readonly orders: Orders
  /** When the last group had handed over (ISO 8601); null before, and after an undo began. */
  readonly handedOverAt: string | null
  /** Way back of a running upgrade, as last observed; null before its first turn, and for other actions. */
  readonly wayBack: WayBack | null
  /** Warnings for people: losses without a handover, settings that could not be carried over. */
  readonly warnings: readonly string[]
  /** 0 to 100; only rises. */
  readonly progress: number
  /** Kind of the present step, or of the verdict without one. */
  readonly step: ActionState
  /** Code of its wait; null without one, and in records older than this field. */
  readonly holdReason: HoldReason | null
  /** The wait as a sentence; empty without one. */
  readonly waitingFor: string
  readonly needsPerson: boolean
  /** The wait while no group works; otherwise null, as in records older than this field. */
  readonly waiting: WaitingSince | null
  /** True if the role of a group moves, or will next. */
  readonly handingOver: boolean
  /** Derived at each change, and recorded so that all readers agree. */
  readonly phase: ActionPhase
  /** Expected end unless completed; null if it should reach its goal. */
  readonly ending: Exclude<ActionOutcome, 'completed'> | null
  readonly pending: readonly PendingStep[]
  readonly error: string | null
  /** The user's request without secrets; null if unknown. */
  readonly request: Readonly<Record<string, unknown>> | null
  /** Name of the requesting user; null if unknown. */
  readonly requestedBy: string | null
  /** When it left the queue, and when it ended (ISO 8601); null before. */
  readonly beganAt: string | null
  readonly endedAt: string | null
  /** Header `traceparent` of the request, if traced. */
  readonly trace?: string | undefined
  readonly createdAt: string
  readonly changedAt: string
}

/** Facts about an action that a turn records. */
export type ActionNews = Partial<
  Pick<
    Action,
    | 'status'
    | 'goal'
    | 'orders'
    | 'handedOverAt'
    | 'wayBack'
    | 'warnings'
    | 'progress'
    | 'step'
    | 'holdReason'
    | 'waitingFor'
    | 'needsPerson'
    | 'waiting'
    | 'handingOver'
    | 'ending'
    | 'pending'
    | 'error'
  >
> & {
  /** The changed lanes. */
  readonly lanes?: readonly LaneRecord[]
}

/** Progress of an action; `done` and `failed` are final. */
export type ActionStatus = 'queued' | 'running' | 'done' | 'failed'

/** A future step as shown to people. */
export interface PendingStep {
  readonly shard: string
  readonly kind: string
  readonly why: string
}

/** Proof of one handover. Offsets are bytes of the replication stream. */
export interface Certificate {
  readonly from: number
  readonly to: number
  readonly replid: string
  /** Null after a crash if restarted engines no longer know it; also for `offsetTo`. */
  readonly offsetFrom: number | null
  readonly offsetTo: number | null
  /** Number of keys in both at that point; null after a crash if they could not be counted. */
  readonly keys: number | null
  /**
   * Ms without writes at any shard, from the pause of the old primary to the promotion of the new one, by the
   * server's clock: the sum of its parts. Null after a crash with the clock set back, without a known bound.
   */
  readonly writeStopMs: number | null
  /**
   * The hold: ms for which the endpoint kept requests back, by the proxy's clock, at least `writeStopMs`.
   * Null without an endpoint, and after a crash.
   */
  readonly heldMs: number | null
  /** Absent, like the next fields, in older records and after a crash. */
  readonly group?: number
  /** Lengths of the sequential parts in ms, by the server's clock. */
  readonly parts?: HandoverParts
  /** Waits of the endpoint's clients; absent also without an endpoint. */
  readonly waited?: WaitedClients
  /** Begin of the hold (Unix ms, server's clock), and ms until the move. Absent also without an endpoint. */
  readonly began?: { readonly holdAt: number; readonly moveAfterMs: number }
  /** True if recovered after a crash from the engines' records: `writeStopMs` is an upper bound, or null. */
  readonly recovered: boolean
  /** Null until every follower has resumed the stream. */
  readonly fullSyncs: number | null
  readonly at: string
}

/** Parts of a handover. `hold` and `release` are 0 without an endpoint. */
export interface HandoverParts {
  readonly hold: number
  readonly pause: number
  readonly equal: number
  readonly promote: number
  readonly release: number
}

/** Waiting clients of the endpoint, their requests, and the longest wait in ms. */
export interface WaitedClients {
  readonly clients: number
  readonly requests: number
  readonly longestMs: number
}

/** Returns the goal that undoes an upgrade (former runs, old primaries as primaries), or a change. */
export function undoGoal(goal: Goal): Goal {
  if (goal.change !== undefined) {
    const { to, from } = goal.change
    const { replicas, persistence } = from
    return { ...goal, replicas, persistence, change: { to: from, from: to }, undo: true }
  }
  if (goal.from === null) return { ...goal, kind: 'remove' }
  return {
    ...goal,
    ...goal.from,
    from: runsOf(goal),
    preserveRoles: true,
    discard: false,
    undo: true,
  }
}

/**
 * Returns the progress of an action from its taken and foreseen steps. Never falls; 100 only at the end.
 * `isMoved`: all roles are in place; before that an empty plan means that no step can be planned now, not
 * that all are done.
 */
export function progressOf(
  before: number,
  {
    stepsTaken,
    stepsToCome,
    isMoved,
  }: { readonly stepsTaken: number; readonly stepsToCome: number; readonly isMoved: boolean },
): number {
  if (stepsToCome === 0) return isMoved ? Math.max(before, 99) : before
  return Math.max(before, Math.min(99, Math.round((100 * stepsTaken) / (stepsTaken + stepsToCome))))
}
