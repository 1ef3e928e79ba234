import type { Step, Verdict } from '../state/topology.ts'

/** The subject of a group's wait. Two turns have the same wait if all of this is equal. */
export interface Awaited {
  readonly what: string
  /** Changes while the wait approaches its end. */
  readonly progress?: number
  /** True for introductions, which alternate between greetings and waits for their arrival: one wait. */
  readonly introduces: boolean
}

/**
 * Returns the subject of the group's wait, or undefined. A step counts, too: it repeats only if its last
 * attempt changed nothing. An introduction and the wait for its arrival are one wait, for the shard to be
 * introduced.
 */
export function awaitedIn(verdict: Verdict): Awaited | undefined {
  if (verdict.kind === 'wait') {
    const { shard, code, progress } = verdict
    return { what: nameOf(shard), introduces: code === 'cluster_view', ...(progress != null && { progress }) }
  }
  if (verdict.kind !== 'do') return undefined
  const { step } = verdict
  if (step.kind !== 'meet') return { what: describe(step), introduces: false }
  const { shard, missing } = step
  return { what: nameOf(shard), introduces: true, ...(missing != null && { progress: missing }) }
}

function nameOf(shard: number): string {
  return `shard ${shard}`
}

/** Returns all of a step except the reason, which may contain changing numbers. */
function describe(step: Step): string {
  return JSON.stringify({ ...step, why: '' })
}
