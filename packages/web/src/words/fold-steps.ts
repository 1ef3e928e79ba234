import type { Action, StepName } from '@fairlead/api'

/** The steps of one group. */
export type Lane = NonNullable<Action['lanes']>[number]
/** One step. */
export type Step = Lane['steps'][number]

/** Steps that only record others, or repeat. Shown while running, and when failed. */
const quiet: readonly StepName[] = [
  ...(['record-primary', 'record-follows', 'record-wish', 'seal-handover'] as const),
  ...(['meet', 'forget-node', 'assign-slots', 'follow'] as const),
]

/** The visible steps of a group. `key` is stable while others come and go. */
export function foldSteps(steps: readonly Step[]): readonly { readonly key: string; readonly step: Step }[] {
  return steps
    .map((step, place) => ({ key: `${place} ${step.op_name}`, step }))
    .filter(({ step }) => step.state === 'running' || step.state === 'failed' || isShown(step.op_name))
}

/** The step whose failure stopped the group; undefined: it has handed over, or none failed. */
export function failureOf({
  handed_over: isMoved,
  steps,
}: Pick<Lane, 'handed_over' | 'steps'>): Step | undefined {
  return isMoved ? undefined : steps.findLast(({ state }) => state === 'failed')
}

/** Returns whether the group has begun. Before, its lag is meaningless. */
export function hasBegun({ steps }: Pick<Lane, 'steps'>): boolean {
  return steps.some(({ began }) => began !== null)
}

/** Returns whether a step is shown. */
export function isShown(name: StepName): boolean {
  return !quiet.includes(name)
}
