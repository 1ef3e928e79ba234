import type { Lane } from '../state/lane.ts'
import { isLinked, isLive, type ObservedDatabase, type ObservedGroup } from '../state/topology.ts'
import { mostAtOnce } from './most-at-once.ts'

/**
 * Limits how many replicas join at once, in a cluster that is being created or has lost several; the first groups
 * come first, and one may always join. Each opens two TLS connections to each other node: the replicas of 64 groups at once took both processors
 * for a minute and a half, and the agent, which serves other databases too, did not answer meanwhile. The surge shards of an upgrade have
 * their own limit (`parallel_shards_upgrade`).
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
 * A replica opens its connections as soon as it runs. A replica that is not linked by then may never be (its primary is gone, its files cannot be
 * read), and the replicas of the other groups do not wait for it.
 */
const JOINS_WITHIN_SECONDS = 60

/** Processes that are starting, and young replicas that are not linked yet. A process that has died, or that dies at each start, does not count. */
function countJoining({ shards }: ObservedGroup): number {
  const primary = shards.find((shard) => isLive(shard) && shard.engine.role === 'primary')
  return shards.filter((shard) => {
    if (shard === primary || shard.leaving || shard.failsToStart != null) return false
    if (!isLive(shard)) return shard.process === 'absent' || shard.process === 'starting'
    if (shard.engine.upSeconds >= JOINS_WITHIN_SECONDS) return false
    return primary === undefined || !isLinked(shard, primary)
  }).length
}
