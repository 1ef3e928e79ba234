/** An action on the tests' world: its goal and its progress. */

import { type Action as RecordedAction, undoGoal } from '../../src/core/state/action.ts'
import type { LaneRecord } from '../../src/core/state/lane-record.ts'
import { noOrders, type Orders } from '../../src/core/state/orders.ts'
import type { Goal, Step } from '../../src/core/state/topology.ts'
import { wayBack } from '../../src/core/state/way-back.ts'
import { look } from './look.ts'
import type { World } from './world.ts'

export interface Action {
  readonly world: World
  readonly asked: Goal
  goal: Goal
  orders: Orders
  handedOverAt: number | null
  error: string | null
  warnings: readonly string[]
  obstacle: string
  /** Null while it runs. */
  ended: 'done' | 'failed' | null
  readonly steps: { readonly group: number; readonly step: Step }[]
  /** What turns have noted for people, and the lanes. Only whole turns note it (`isWhole` of lead.ts). */
  noted: Partial<RecordedAction>
  readonly lanes: Map<number, LaneRecord>
}

export function actionOf(world: World, asked: Goal): Action {
  return {
    world,
    asked,
    goal: asked,
    orders: noOrders,
    handedOverAt: null,
    error: null,
    warnings: [],
    obstacle: '',
    ended: null,
    steps: [],
    noted: {},
    lanes: new Map(),
  }
}

/** A user orders a rollback, if that is possible now. Returns whether it was. */
export function undo(action: Action): boolean {
  const { eligible } = wayBack(look(action.world), action.asked)
  if (eligible && !action.goal.undo) giveUp(action, 'a user asked for it')
  return eligible
}

export function giveUp(action: Action, why: string): void {
  Object.assign(action, { goal: undoGoal(action.goal), error: why, handedOverAt: null })
}
