import type { Lane } from '../state/lane.ts'
import {
  findGroup,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type Verdict,
} from '../state/topology.ts'
import { mostAtOnce } from './most-at-once.ts'

/**
 * Limits how many followers leave at the same time, first groups first; one always may, because a process may
 * take long to end. Staying nodes close their connections to a leaving one: 64 at the same time took the
 * processors from clients for ten seconds (of 24 groups without replicas all may leave). A shard that is not
 * known to be a follower leaves immediately: other work may wait for it.
 */
export function rationDepartures(lanes: readonly Lane[], seen: ObservedDatabase): readonly Lane[] {
  const shards = seen.groups.flatMap((group) => group.shards)
  const leaving = shards.filter((shard) => shard.leaving).length
  const going = lanes.filter(({ group, verdict }) => isDeparture(verdict, findGroup(seen, group))).length
  const most = mostAtOnce(shards.length - leaving - going)
  let free = Math.max(1, most - leaving)
  return lanes.map((lane) => {
    const { group, verdict } = lane
    if (!isDeparture(verdict, findGroup(seen, group))) return lane
    free -= 1
    if (free >= 0) return lane
    const why = `${most} shards are leaving already, and ${verdict.step.why}`
    return { group, verdict: { kind: 'hold', on: 'group', code: 'other_groups', why } }
  })
}

/** True if the step retires a follower whose retirement has not begun. */
function isDeparture(
  verdict: Verdict,
  { shards }: ObservedGroup,
): verdict is Verdict & { readonly kind: 'do' } {
  if (verdict.kind !== 'do' || verdict.step.kind !== 'retire-shard') return false
  const { step } = verdict
  const shard = shards.find(({ id }) => id === step.shard)
  return shard !== undefined && !shard.leaving && isLive(shard) && shard.engine.role === 'replica'
}
