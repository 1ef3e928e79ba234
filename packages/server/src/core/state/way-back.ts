import type { Build, Obstacle as CodedObstacle, RollbackObstacle } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import type { GroupRecord, ShardRecord } from './database.ts'
import { describeGoal, describeRevision, type Goal, revisionOf } from './goal.ts'
import type { Obstacle } from './obstacle.ts'
import {
  isLinked,
  isLive,
  type LiveShard,
  type ObservedDatabase,
  type ObservedGroup,
  type ObservedShard,
} from './topology.ts'

/**
 * If an upgrade can be taken back now without a loss. `obstacle`: null if there is none, and in records older
 * than this field. `reason`: the obstacle, or why it can, as a sentence.
 */
export interface WayBack {
  readonly eligible: boolean
  readonly obstacle: RollbackObstacle | null
  readonly reason: string
}

/** Returns the way back of a whole database: open if each group's is. */
export function wayBack({ groups }: ObservedDatabase, goal: Goal): WayBack {
  if (goal.discard) return wayBackClosed('data_discarded', 'the former data was discarded, as requested')
  const obstacles = groups.flatMap((group) => obstacleToReturn(group, goal) ?? [])
  const [first] = obstacles
  if (first !== undefined) return wayBackClosed(first.code, obstacles.map(({ why }) => why).join('; '))
  if (!groups.some((group) => hasHandedOver(group, goal)))
    // Before the first handover, and if an old shard was promoted again because a new primary died.
    return open(`no primary is on ${describeGoal(goal)}, so no role has to move back`)
  return open('every old primary is a standby and holds all data')
}

/** Returns a closed way back. `reason` is for people. */
export function wayBackClosed(obstacle: RollbackObstacle, reason: string): WayBack {
  return { eligible: false, obstacle, reason }
}

function open(reason: string): WayBack {
  return { eligible: true, obstacle: null, reason }
}

/** Returns why one group cannot go back; undefined if it can, or has not handed over. */
function obstacleToReturn(seen: ObservedGroup, goal: Goal): CodedObstacle<RollbackObstacle> | undefined {
  if (!hasHandedOver(seen, goal)) return undefined
  const primary = seen.shards.find((shard) => shard.id === seen.recordedPrimary)
  const before = goal.from === null ? '' : revisionOf(goal.from)
  const standby = standbysOf(seen, before)[0]
  const where = seen.slots === null ? '' : `group ${seen.group}: `
  if (primary === undefined || !isLive(primary))
    return { code: 'primary_silent', why: `${where}the primary does not answer right now` }
  if (standby === undefined)
    return {
      code: 'standby_gone',
      why: `${where}no shard on ${describeRevision(before, revisionOf(goal))} is left`,
    }
  if (!isLinked(standby, primary))
    return {
      code: 'standby_unlinked',
      why: `${where}the standby, shard ${standby.id}, is not linked right now`,
    }
  const unsound = whyDiverged(standby, { seen, goal, primary })
  return unsound && { code: 'data_differs', why: `${where}${unsound.why}` }
}

/** Returns the shards that run the former revision and should stay on it. */
function standbysOf({ shards }: ObservedGroup, before: string): readonly ObservedShard[] {
  return shards.filter(
    (shard) => shard.revision === before && revisionOf(shard.wanted) === before && !shard.leaving,
  )
}

/** True if the way back ends with this shard: its group has handed over and has no other standby. */
export function isLastStandby(shard: number, seen: ObservedGroup, goal: Goal): boolean {
  if (goal.from === null || goal.undo || !hasHandedOver(seen, goal)) return false
  const standbys = standbysOf(seen, revisionOf(goal.from))
  return standbys.length === 1 && standbys[0]?.id === shard
}

/** True if the group has handed over: its primary runs, or should run, the goal's revision. */
export function hasHandedOver(seen: ObservedGroup, goal: Goal): boolean {
  const recorded = seen.shards.find((shard) => shard.id === seen.recordedPrimary)
  return recorded !== undefined && revisionOf(recorded.wanted) === revisionOf(goal)
}

/** Like hasHandedOver for all groups, from the record: true before the next look at the engines. */
export function haveAllLeft(
  groups: readonly Pick<GroupRecord, 'primaryShard'>[],
  shards: readonly Pick<ShardRecord, 'id' | 'runs'>[],
  goal: Goal,
): boolean {
  const runsGoal = new Set(
    shards.filter(({ runs }) => revisionOf(runs) === revisionOf(goal)).map(({ id }) => id),
  )
  return goal.from !== null && groups.every(({ primaryShard }) => runsGoal.has(primaryShard ?? -1))
}

/**
 * Returns why a linked follower at the same offset cannot be trusted to hold its primary's data, or
 * undefined.
 * 1. An engine skips unknown commands and only counts them (measured: HEXPIRE to an older version, a missing
 *    module).
 * 2. A restart resets that count, so a restarted standby is not trusted; except on the goal's revision,
 *    because the count was checked before, and later misses count from 0.
 * 3. Redis before 6.2 does not count commands with unknown syntax: since 6.2 a `SET` with a time to live is
 *    replicated as `SET … PXAT`, and 6.0 keeps the old value (measured: equal offsets and numbers of keys).
 */
export function whyDiverged(
  shard: ObservedShard,
  { seen, goal, primary }: { readonly seen: ObservedGroup; readonly goal: Goal; readonly primary: LiveShard },
): Obstacle | undefined {
  if (!isLive(shard)) return undefined // this shard is waited for
  const hasMovedOn = !goal.undo && shard.revision === revisionOf(goal)
  if (mayHaveOldValues(shard, primary)) {
    const { flavour, version } = shard.wanted.build
    const why = `shard ${shard.id} runs ${flavour} ${version}, which does not report the commands of a newer primary that it could not execute: a SET with a time to live, for example`
    return { code: 'data_differs', why }
  }
  const isStandby = seen.standby?.shard === shard.id && shard.revision !== primary.revision && !hasMovedOn
  const base = isStandby ? seen.standby : null
  if (base !== null && base.runId !== shard.engine.runId)
    return {
      code: 'data_differs',
      why: `shard ${shard.id} was restarted after its handover: it is not known what it missed`,
    }
  const failed = shard.engine.errorReplies - (base?.errorReplies ?? 0)
  if (failed <= 0) return undefined
  const words = shard.trouble === '' ? '' : ` (${shard.trouble})`
  const why = `shard ${shard.id} could not carry out ${failed} command(s) of its primary: its data differs${words}`
  return { code: 'data_differs', why }
}

/** True if a follower may silently have old values of keys that `primary` (present or gone) wrote. */
export function mayHaveOldValues(shard: ObservedShard, primary: Pick<ObservedShard, 'wanted'>): boolean {
  return countsTooLittle(shard) && losesStandby(shard.wanted.build, primary.wanted.build)
}

/** A process that does not run its wanted build yet is not judged: it will change. */
function countsTooLittle({ wanted, revision }: ObservedShard): boolean {
  return revision === revisionOf(wanted) && isBefore62(wanted.build)
}

/** True for Redis before 6.2, which cannot make writes wait either. */
export function isBefore62({ flavour, version }: Build): boolean {
  return flavour === 'redis' && compareVersions(version, '6.2') < 0
}

/** True if old shards on `build` miss writes of a new primary on `target`. */
export function losesStandby(build: Build, target: Build): boolean {
  return isBefore62(build) && !isBefore62(target)
}
