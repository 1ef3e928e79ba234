import { everything, type Leave } from './orders.ts'
import { planDatabase } from './plan-database.ts'
import { expectDatabase, settleDatabase } from './simulate.ts'
import type { Goal, SeenDatabase, Step } from './topology.ts'

/** A step that is still to come, and the group it belongs to. */
export interface Foreseen {
  readonly group: number
  readonly step: Step
}

/**
 * The steps from `seen` to `goal` if all goes as expected and everybody who has to says go: the plan that people see,
 * and the measure of progress. Waits are taken as met. Ends early where the way is blocked.
 */
export function foresee(seen: SeenDatabase, goal: Goal, leave: Leave = everything): readonly Foreseen[] {
  const steps: Foreseen[] = []
  const most = MOST_STEPS * seen.groups.length
  let world = seen
  while (steps.length < most) {
    const lanes = planDatabase(world, goal, leave)
    const due = lanes.flatMap(({ group, verdict }) =>
      verdict.kind === 'do' ? [{ group, step: verdict.step }] : [],
    )
    const next = settleDatabase(due.reduce((at, { group, step }) => expectDatabase(at, group, step), world))
    if (due.length === 0 && next === world) return steps
    steps.push(...due)
    world = next
  }
  return steps
}

/** Far above what one group needs (about a dozen); a plan that does not end is a fault, not a loop. */
const MOST_STEPS = 200
