import type { ActionOutcome, ActionPhase } from '@fairlead/api'
import type { ActionStatus } from '../state/action.ts'
import type { ListOrder } from './list-order.ts'

/** Which actions a list has: only those for which all of it is true. */
export interface ActionsFilter {
  readonly status?: ActionStatus | undefined
  readonly phase?: ActionPhase | undefined
  readonly outcome?: ActionOutcome | undefined
  /** Of this database. */
  readonly database?: number | undefined
  /** A part of the name of a database that exists, whatever its case; or its uid in digits. */
  readonly q?: string | undefined
}

/** The order of a list of actions. */
export type ActionsOrder = ListOrder<'created_time' | 'last_changed_time'>
