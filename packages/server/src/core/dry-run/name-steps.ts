import type { ObservedDatabase, Step } from '../state/topology.ts'
import type { Foreseen } from './foresee.ts'

/** A foreseen step as shown to people. */
export interface NamedStep {
  readonly group: number
  readonly kind: Step['kind']
  /** The shard that the step acts on (in a handover, the successor); '' if there is no single shard. */
  readonly shard: string
  /** The shard that hands over its role; null for other steps. */
  readonly from: string | null
  readonly why: string
}

/**
 * Names the steps. Future shards are new-1, new-2, … in their order; real numbers are known only once
 * recorded, because shards of other databases may come before.
 */
export function nameSteps({ groups }: ObservedDatabase, steps: readonly Foreseen[]): readonly NamedStep[] {
  const highest = Math.max(0, ...groups.flatMap(({ shards }) => shards.map(({ id }) => id)))
  const nameOf = (id: number) => (id > highest ? `new-${id - highest}` : String(id))
  let added = 0
  return steps.map(({ group, step }) => {
    const why = step.why.replaceAll(/\bshard (\d+)\b/g, (_, id: string) => `shard ${nameOf(Number(id))}`)
    if (step.kind === 'add-shard') added += 1
    const named = { group, kind: step.kind, why, from: null }
    if (step.kind === 'add-shard') return { ...named, shard: `new-${added}` }
    if (step.kind === 'hand-over') return { ...named, shard: nameOf(step.to), from: nameOf(step.from) }
    return { ...named, shard: 'shard' in step ? nameOf(step.shard) : '' }
  })
}
