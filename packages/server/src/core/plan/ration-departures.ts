import type { Lane } from '../state/lane.ts'
import { findGroup, isLive, type Seen, type SeenDatabase, type Step } from '../state/topology.ts'
import { mostAtOnce } from './most-at-once.ts'

/**
 * Of the followers that the lanes let go, those for which there is room, the first groups first; one in any case, as a process may take
 * long to end. Each other node writes down that one is gone: 64 at once took the processors from clients for ten seconds. Whoever is not known to follow goes at once: it may be in the way.
 */
export function rationDepartures(lanes: readonly Lane[], seen: SeenDatabase): readonly Lane[] {
  const shards = seen.groups.flatMap((group) => group.shards)
  const most = mostAtOnce(shards.length)
  let free = Math.max(1, most - shards.filter(({ leaving }) => leaving).length)
  return lanes.map((lane) => {
    const { group, verdict } = lane
    if (verdict.kind !== 'do' || !letsGo(verdict.step, findGroup(seen, group))) return lane
    free -= 1
    if (free >= 0) return lane
    const why = `${most} shards are leaving already, and ${verdict.step.why}`
    return { group, verdict: { kind: 'hold', on: 'group', code: 'other_groups', why } }
  })
}

/** A follower whose retirement has not begun. */
function letsGo(step: Step, { shards }: Seen): boolean {
  if (step.kind !== 'retire-shard') return false
  const shard = shards.find(({ id }) => id === step.shard)
  return shard !== undefined && !shard.leaving && isLive(shard) && shard.engine.role === 'replica'
}
