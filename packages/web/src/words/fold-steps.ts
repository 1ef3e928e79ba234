import type { Action, StepName } from '@fairlead/api'

/** What was done in one group. */
export type Lane = NonNullable<Action['lanes']>[number]
/** One step of it. */
export type Step = Lane['steps'][number]

/** Steps that only write down what others have done, or repeat themselves. They are shown while they run, and when they have failed. */
const quiet: readonly StepName[] = [
  ...(['record-primary', 'record-follows', 'record-wish', 'seal-handover'] as const),
  ...(['meet', 'forget-node', 'assign-slots', 'follow'] as const),
]

/** The steps that tell what happens to a group. `key` stays the same while others come and go. */
export function foldSteps(steps: readonly Step[]): readonly { readonly key: string; readonly step: Step }[] {
  return steps
    .map((step, place) => ({ key: `${place} ${step.op_name}`, step }))
    .filter(({ step }) => step.state === 'running' || step.state === 'failed' || isTold(step.op_name))
}

/** The step that showed that the group cannot go where it was to go; undefined: it has gone there, or none has. */
export function failureOf({
  handed_over: isMoved,
  steps,
}: Pick<Lane, 'handed_over' | 'steps'>): Step | undefined {
  return isMoved ? undefined : steps.findLast(({ state }) => state === 'failed')
}

/** Whether anything of the group has begun. Before, its distance from the primary says nothing. */
export function hasBegun({ steps }: Pick<Lane, 'steps'>): boolean {
  return steps.some(({ began }) => began !== null)
}

/** Whether a step tells what happens to a group. */
export function isTold(name: StepName): boolean {
  return !quiet.includes(name)
}
