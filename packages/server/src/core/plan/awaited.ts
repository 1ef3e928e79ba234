import type { Step, Verdict } from '../state/topology.ts'

/** What a group waits for in a turn. Two turns wait for the same if all of this is equal. */
export interface Awaited {
  readonly what: string
  /** Changes while the wait comes closer to its end. */
  readonly progress?: number
  /** Introductions take several verdicts by turns: greetings, and waits until these have arrived. All of them are waited for at once. */
  readonly introduces: boolean
}

/**
 * What the group waits for; undefined when it waits for nothing. A step counts as well: it is the same again only if its last attempt changed nothing.
 * An introduction and the wait for its arrival are one wait, for the shard that has to know or to be known.
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

/** All that the step does, without the reason, which may contain numbers that change. */
function describe(step: Step): string {
  return JSON.stringify({ ...step, why: '' })
}
