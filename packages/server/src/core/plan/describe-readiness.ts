import type { Lane } from '../state/lane.ts'
import type { Goal } from '../state/topology.ts'

const GO_ON = 'the upgrade is supervised and goes on when a user resumes it'

/** Reason shown at the stop of a supervised upgrade by a single group. */
export const whySupervised = `everything is ready; ${GO_ON}`

/** Adds to the groups that wait at that stop which groups are ready: the canary waits there alone. */
export function describeReadiness(lanes: readonly Lane[], { policy }: Pick<Goal, 'policy'>): readonly Lane[] {
  if (lanes.length === 1) return lanes
  const ready = lanes.filter(isReady).map(({ group }) => group)
  const others = lanes.length - ready.length
  const why = `${readyOf(ready, others)}${policy.canary && others > 0 ? begin(others) : ''}; ${GO_ON}`
  return lanes.map((lane) =>
    isReady(lane) ? { group: lane.group, verdict: { ...lane.verdict, why } } : lane,
  )
}

type Ready = Lane & { readonly verdict: { readonly kind: 'hold' } }

function isReady(lane: Lane): lane is Ready {
  return lane.verdict.kind === 'hold' && lane.verdict.code === 'supervised'
}

function readyOf(ready: readonly number[], others: number): string {
  if (others === 0) return `all ${ready.length} groups are ready`
  if (ready.length === 1) return `group ${ready[0]} is ready`
  return `groups ${ready.slice(0, -1).join(', ')} and ${ready.at(-1)} are ready`
}

function begin(others: number): string {
  return others === 1
    ? ', and the other group begins after it'
    : `, and the other ${others} groups begin after it`
}
