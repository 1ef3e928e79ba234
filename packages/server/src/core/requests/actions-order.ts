import type { ActionOutcome, ActionPhase } from '@fairlead/api'
import type { ActionStatus } from '../state/action.ts'
import type { ListOrder } from './list-order.ts'

/** Filter of a list of actions; all conditions must be true. */
export interface ActionsFilter {
  readonly status?: ActionStatus | undefined
  readonly phase?: ActionPhase | undefined
  readonly outcome?: ActionOutcome | undefined
  /** Uid of the database. */
  readonly database?: number | undefined
  /** Part of an existing database's name, in any case; or its uid in digits. */
  readonly q?: string | undefined
}

/** Order of a list of actions. */
export type ActionsOrder = ListOrder<'created_time' | 'last_changed_time'>
