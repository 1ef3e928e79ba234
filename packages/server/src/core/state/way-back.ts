import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import { type Goal, revisionOf } from './goal.ts'
import type { Obstacle } from './obstacle.ts'
import { isLinked, isLive, type LiveShard, type Seen, type SeenDatabase, type SeenShard } from './topology.ts'

/** Can an upgrade be taken back without losing anything, right now? `reason` says why, or what is in the way. */
export interface WayBack {
  readonly eligible: boolean
  readonly reason: string
}

/** The way back of a whole database: as open as that of each of its groups. */
export function wayBack({ groups }: SeenDatabase, goal: Goal): WayBack {
  if (goal.discard) return { eligible: false, reason: 'the data of before was discarded, as was asked' }
  const obstacles = groups.flatMap((group) => obstacleToReturn(group, goal) ?? [])
  const [first] = obstacles
  if (first !== undefined) return { eligible: false, reason: obstacles.join('; ') }
  if (!groups.some((group) => hasLeft(group, goal)))
    return { eligible: true, reason: 'nothing was handed over yet' }
  return { eligible: true, reason: 'every old primary follows as a standby and holds all data' }
}

/** Why one group cannot go back, in words; undefined when it can, or never left. */
function obstacleToReturn(seen: Seen, goal: Goal): string | undefined {
  if (!hasLeft(seen, goal)) return undefined
  const primary = seen.shards.find((shard) => shard.id === seen.recordedPrimary)
  const before = goal.from === null ? '' : revisionOf(goal.from)
  const standby = seen.shards.find((shard) => shard.revision === before && !shard.leaving)
  const where = seen.slots === null ? '' : `group ${seen.group}: `
  if (primary === undefined || !isLive(primary)) return `${where}the primary does not answer right now`
  if (standby === undefined) return `${where}no shard on ${before} is left`
  if (!isLinked(standby, primary)) return `${where}the standby, shard ${standby.id}, is not linked right now`
  const unsound = whyUnsound(standby, { seen, goal, primary })
  return unsound === undefined ? undefined : `${where}${unsound.why}`
}

/** The primary runs the goal's revision, or shall: it was handed over. */
export function hasLeft(seen: Seen, goal: Goal): boolean {
  const recorded = seen.shards.find((shard) => shard.id === seen.recordedPrimary)
  return recorded !== undefined && revisionOf(recorded.wanted) === revisionOf(goal)
}

/**
 * Why a follower cannot be trusted to hold what its primary holds, although it is linked and at the same offset; undefined
 * when it can. An engine skips what it does not understand and says so in a counter only (measured: HEXPIRE to an older
 * version, a missing module). A standby whose process ended since has forgotten that count. Not one that was restarted on the goal's
 * revision: its count was looked at before, and what it misses since then is counted from 0.
 *
 * Redis before 6.2 does not count what it takes for a wrong syntax: since 6.2 a `SET` with a time to live is sent to followers as `SET … PXAT`, and
 * 6.0 keeps the old value (measured, with equal offsets and as many keys on both sides).
 */
export function whyUnsound(
  shard: SeenShard,
  { seen, goal, primary }: { readonly seen: Seen; readonly goal: Goal; readonly primary: LiveShard },
): Obstacle | undefined {
  if (!isLive(shard)) return undefined // it is waited for
  const hasMovedOn = !goal.undo && shard.revision === revisionOf(goal)
  if (countsTooLittle(shard) && !countsTooLittle(primary)) {
    const { flavour, version } = shard.wanted.build
    const why = `shard ${shard.id} runs ${flavour} ${version}, which does not say what it could not carry out for a newer primary: a SET with a time to live, for example`
    return { code: 'data_differs', why }
  }
  const isStandby = seen.standby?.shard === shard.id && shard.revision !== primary.revision && !hasMovedOn
  const base = isStandby ? seen.standby : null
  if (base !== null && base.runId !== shard.engine.runId)
    return {
      code: 'data_differs',
      why: `shard ${shard.id} was started anew since it handed over: nobody counted what it missed`,
    }
  const failed = shard.engine.errorReplies - (base?.errorReplies ?? 0)
  if (failed <= 0) return undefined
  const words = shard.trouble === '' ? '' : ` (${shard.trouble})`
  const why = `shard ${shard.id} could not carry out ${failed} command(s) of its primary: its data differs${words}`
  return { code: 'data_differs', why }
}

/** Of a process that is not what it shall run yet, nothing is said: it is on its way to another build. */
function countsTooLittle({ wanted, revision }: SeenShard): boolean {
  return revision === revisionOf(wanted) && isBefore62(wanted.build)
}

/** Redis before 6.2, which cannot make writes wait either. */
export function isBefore62({ flavour, version }: Build): boolean {
  return flavour === 'redis' && compareVersions(version, '6.2') < 0
}
