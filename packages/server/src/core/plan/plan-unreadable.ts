import { revisionOf } from '../state/goal.ts'
import { act, type Group, inBrackets } from '../state/group.ts'
import { isLinked, isLive, type LiveShard, type ObservedShard, type Verdict } from '../state/topology.ts'
import { retire } from './plan-durability.ts'

/**
 * Gives up a shard on the former build that cannot read its full syncs, because each would fail. If a shard
 * on the target cannot, the upgrade itself fails (planSuccessor).
 */
export function planUnreadable(group: Group): Verdict | undefined {
  const { goal, primary, replicas } = group
  const fresh = goal.undo ? goal.from && revisionOf(goal.from) : revisionOf(goal)
  if (primary.revision !== fresh) return undefined
  const lost = replicas.find((shard) => shard.revision !== fresh && cannotRead(shard, primary))
  if (lost === undefined) return undefined
  const words = lost.cannotRead ? lost.trouble : primary.trouble
  const why = `it was a standby, and cannot read what shard ${primary.id} sends${inBrackets(words)}`
  const verdict = retire(lost, why, group)
  return verdict.kind === 'do' && verdict.step.kind === 'retire-shard'
    ? act({ ...verdict.step, warns: true })
    : verdict
}

/**
 * True if each further full sync would fail and cost the primary a fork: the shard reports that it cannot
 * read, or its primary that it cannot write a follower's format.
 */
export function cannotRead(shard: ObservedShard, primary: LiveShard): boolean {
  if (isLinked(shard, primary)) return false
  // One that has only lost its link resumes the stream, whatever happened to full syncs before.
  const isSyncing = isLive(shard) && shard.engine.syncing
  return shard.cannotRead === true || (isSyncing && primary.cannotSend === true)
}
