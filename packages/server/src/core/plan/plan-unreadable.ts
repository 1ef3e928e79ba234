import { revisionOf } from '../state/goal.ts'
import { act, type Group, inBrackets } from '../state/group.ts'
import { isLinked, type LiveShard, type ObservedShard, type Verdict } from '../state/topology.ts'
import { retire } from './plan-durability.ts'

/**
 * Gives up a shard on the former build that cannot read what its primary sends: each of its full syncs would fail in the same way. A shard on
 * the target that cannot is another matter: its upgrade is of no use.
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
 * Each further attempt would fail in the same way, and cost the primary a fork: the shard reports so itself, or its primary reports that it
 * cannot write the format that the shard reads.
 */
export function cannotRead(shard: ObservedShard, primary: LiveShard): boolean {
  if (isLinked(shard, primary)) return false
  return shard.cannotRead === true || primary.cannotSend === true
}
