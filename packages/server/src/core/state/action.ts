import type { ActionOutcome, ActionPhase, ActionState, HoldReason } from '@fairlead/api'
import { type Goal, runsOf } from './goal.ts'
import type { LaneRecord, WaitingSince } from './lane-record.ts'
import type { Orders } from './orders.ts'
import type { WayBack } from './way-back.ts'

/**
 * A long operation, from the request to its end.
 *
 * - `queued`: accepted; the reconciler has not looked at it yet, or other upgrades have to end first. Ends with its
 *   first turn.
 * - `running`: the planner leads the database to `goal`. Ends as `done`, or, where the goal turns out hopeless or a
 *   person takes it back, goes on with the goal that undoes it and ends as `failed`.
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
  /** The goal as it was accepted: an undo changes `goal`, and can itself be undone. */
  readonly asked: Goal
  readonly orders: Orders
  /** When the last group had handed over, ISO 8601; null before, and after an undo began. */
  readonly handedOverAt: string | null
  /** The way back of an upgrade that runs, as last observed; null before its first turn, and for other actions. */
  readonly wayBack: WayBack | null
  /** Warnings for people: losses that no handover caused, settings that could not be carried over. */
  readonly warnings: readonly string[]
  /** 0 to 100; only rises. */
  readonly progress: number
  /** The kind of the present step, or of the verdict if there is none. */
  readonly step: ActionState
  /** Why it waits, as a code. Null while it does not wait, and in records that are older than this field. */
  readonly holdReason: HoldReason | null
  /** The same as a sentence; empty while it does not wait. */
  readonly waitingFor: string
  readonly needsPerson: boolean
  /** What it waits for while nothing is being done in any group; null while something is, and in records that are older than this field. */
  readonly waiting: WaitingSince | null
  /** The role of a group moves, or is about to. */
  readonly handingOver: boolean
  /** Follows from the rest at each change; on record so that all readers agree. */
  readonly phase: ActionPhase
  /** How it will end as things are now, if not as completed. Null: it is to reach its goal. */
  readonly ending: Exclude<ActionOutcome, 'completed'> | null
  readonly pending: readonly PendingStep[]
  readonly error: string | null
  /** What the user sent, without secrets; null where that is not known. */
  readonly request: Readonly<Record<string, unknown>> | null
  /** The name of the user that asked for it; null where that is not known. */
  readonly requestedBy: string | null
  /** When it left the queue, and when it ended; ISO 8601, null before. */
  readonly beganAt: string | null
  readonly endedAt: string | null
  /** The header `traceparent` of the request that began it, if that is traced. */
  readonly trace?: string | undefined
  readonly createdAt: string
  readonly changedAt: string
}

/** The facts about an action that a turn records. */
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
  /** Those that have changed. */
  readonly lanes?: readonly LaneRecord[]
}

/** How far an action is; `done` and `failed` are final. */
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
  /** Null after a crash if the engines do not know it any more, because they were restarted. The same holds for `offsetTo`. */
  readonly offsetFrom: number | null
  readonly offsetTo: number | null
  /** The number of keys that both held at that point; null after a crash, if they could not be counted. */
  readonly keys: number | null
  /**
   * From the pause of the old primary to the promotion of the new one, by the server's clock: no shard took
   * writes. The sum of its parts. In milliseconds. Null after a crash in which the clock was set back: then no bound is known.
   */
  readonly writeStopMs: number | null
  /** The hold: how long the endpoint kept back requests, by the proxy's clock: never less than `writeStopMs`. Null without an endpoint, and after a crash. */
  readonly heldMs: number | null
  /** Absent, as are those below, in records that are older than these fields, and after a crash. */
  readonly group?: number
  /** How long each part took, one after the other, in milliseconds by the server's clock. */
  readonly parts?: HandoverParts
  /** How clients of the endpoint waited; absent also without an endpoint. */
  readonly waited?: WaitedClients
  /** When the hold began, by the server's clock (Unix milliseconds), and how long after that the move did. Absent also without an endpoint. */
  readonly began?: { readonly holdAt: number; readonly moveAfterMs: number }
  /** Put together after a crash, from the engines' own records: `writeStopMs` is then an upper bound, or null. */
  readonly recovered: boolean
  /** Null until every follower resumed the stream. */
  readonly fullSyncs: number | null
  readonly at: string
}

/** The parts of a handover. `hold` and `release` are 0 without an endpoint. */
export interface HandoverParts {
  readonly hold: number
  readonly pause: number
  readonly equal: number
  readonly promote: number
  readonly release: number
}

/** Clients of the endpoint that waited for an answer, their requests, and the longest wait in milliseconds. */
export interface WaitedClients {
  readonly clients: number
  readonly requests: number
  readonly longestMs: number
}

/** The goal that undoes an upgrade: what the database ran before, with the old primaries as primaries. */
export function undoGoal(goal: Goal): Goal {
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
 * How far an action is, from the steps it has taken and those foreseen. Never falls, and is 100 only at its end. `isMoved`: all roles are where
 * they should be. Before that, an empty plan means that no step can be planned now, not that all are done.
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
