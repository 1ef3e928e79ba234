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
  const why = `it was a standby, and cannot read what shard ${primary.id} sends${inBrackets(lost.trouble)}`
  const verdict = retire(lost, why, group)
  return verdict.kind === 'do' && verdict.step.kind === 'retire-shard'
    ? act({ ...verdict.step, warns: true })
    : verdict
}

/** The shard reports so itself, and each further attempt would fail in the same way and cost the primary a fork. */
export function cannotRead(shard: ObservedShard, primary: LiveShard): boolean {
  return !isLinked(shard, primary) && shard.cannotRead === true
}
