import { revisionOf } from '../state/goal.ts'
import { act, type Group, inBrackets } from '../state/group.ts'
import { isLinked, isLive, type LiveShard, type ObservedShard, type Verdict } from '../state/topology.ts'
import { retire } from './plan-durability.ts'

/**
 * Gives up a shard on the former build that tries full syncs and cannot read them: each would fail in the same way. Where
 * a shard on the target cannot, the upgrade itself is of no use (planSuccessor).
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
 * Tells whether each further full sync would fail in the same way, and cost the primary a fork: the shard reports that it
 * cannot read, or its primary that it cannot write the format of a follower.
 */
export function cannotRead(shard: ObservedShard, primary: LiveShard): boolean {
  if (isLinked(shard, primary)) return false
  // One that has only lost its link resumes the stream, whatever was true of full syncs before.
  const isSyncing = isLive(shard) && shard.engine.syncing
  return shard.cannotRead === true || (isSyncing && primary.cannotSend === true)
}
