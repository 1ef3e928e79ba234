import type { Goal } from './goal.ts'

/**
 * A long operation, from the request to its end.
 *
 * - `queued`: accepted; the reconciler has not looked at it yet. Ends with its first turn.
 * - `running`: the planner leads the database to `goal`. Ends as `done`, or, where the goal turns out hopeless, goes on
 *   with the goal that undoes it and ends as `failed`.
 * - `done`, `failed`: final. `error` says why it failed; the database serves as before.
 *
 * `needsPerson` is true while something stands in the way that only a person can resolve; the action still runs.
 */
export interface Action {
  readonly uid: string
  readonly databaseUid: number
  readonly kind: 'create' | 'upgrade' | 'delete'
  readonly status: ActionStatus
  readonly goal: Goal
  /** 0 to 100; only rises. */
  readonly progress: number
  /** The kind of the step in hand. */
  readonly step: string
  /** What it waits for and why; empty while it does not wait. */
  readonly waitingFor: string
  readonly needsPerson: boolean
  readonly pending: readonly PendingStep[]
  readonly error: string | null
  readonly createdAt: string
  readonly changedAt: string
}

export type ActionStatus = 'queued' | 'running' | 'done' | 'failed'

/** A step that is still to come, as people see it. */
export interface PendingStep {
  readonly shard: string
  readonly kind: string
  readonly why: string
}

/** The proof of one handover. Offsets are bytes of the replication stream. */
export interface Certificate {
  readonly from: number
  readonly to: number
  readonly replid: string
  readonly offsetFrom: number
  readonly offsetTo: number
  /** From the pause to the promotion, in milliseconds. */
  readonly writeStopMs: number
  /** Put together after a crash, from the engines' own records: `writeStopMs` is then an upper bound. */
  readonly recovered: boolean
  /** Null until every follower resumed the stream. */
  readonly fullSyncs: number | null
  readonly at: string
}

/** The goal that takes an upgrade back: what the database ran before. The old primary is wanted back in its place. */
export function undoGoal(goal: Goal, before: Pick<Goal, 'build' | 'restartNonce'>): Goal {
  return { ...goal, build: before.build, restartNonce: before.restartNonce, preserveRoles: true, undo: true }
}

/** How far an action is, from the steps it has taken and those foreseen. Never falls, and is 100 only at its end. */
export function progressOf(before: number, stepsTaken: number, stepsToCome: number): number {
  if (stepsToCome === 0) return Math.max(before, 99)
  return Math.max(before, Math.min(99, Math.round((100 * stepsTaken) / (stepsTaken + stepsToCome))))
}
