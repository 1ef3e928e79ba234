import type { Lane } from '../state/lane.ts'
import { isLinked, isLive, type ObservedDatabase, type ObservedGroup } from '../state/topology.ts'
import { mostAtOnce } from './most-at-once.ts'

/**
 * Limits how many replicas join at the same time a cluster that is created or has lost several, first groups
 * first; one always may. Each opens two TLS connections to each other node: the replicas of 64 groups took
 * both processors for 90 s, and the agent, which also serves other databases, did not answer. Surge shards
 * have a separate limit (`parallel_shards_upgrade`).
 */
export function rationJoins(lanes: readonly Lane[], seen: ObservedDatabase): readonly Lane[] {
  const joining = seen.groups.reduce((sum, group) => sum + countJoining(group), 0)
  const present = seen.groups.reduce((sum, { shards }) => sum + shards.length, 0) - joining
  const most = mostAtOnce(present)
  let free = Math.max(joining === 0 ? 1 : 0, most - joining)
  return lanes.map((lane) => {
    const { group, verdict } = lane
    if (verdict.kind !== 'do' || verdict.step.kind !== 'add-shard' || verdict.step.follow === null)
      return lane
    free -= 1
    if (free >= 0) return lane
    const why = `${most} shards are joining the cluster already, and ${verdict.step.why}`
    return { group, verdict: { kind: 'hold', on: 'group', code: 'other_groups', why } }
  })
}

/**
 * A replica connects as soon as it runs. One without a link by then may never get it (lost primary,
 * unreadable files), so other groups do not wait for it.
 */
const JOINS_WITHIN_SECONDS = 60

/** Counts starting processes and young replicas without a link, except those that die at each start. */
function countJoining({ shards }: ObservedGroup): number {
  const primary = shards.find((shard) => isLive(shard) && shard.engine.role === 'primary')
  return shards.filter((shard) => {
    if (shard === primary || shard.leaving || shard.failsToStart != null) return false
    if (!isLive(shard)) return shard.process === 'absent' || shard.process === 'starting'
    if (shard.engine.upSeconds >= JOINS_WITHIN_SECONDS) return false
    return primary === undefined || !isLinked(shard, primary)
  }).length
}
