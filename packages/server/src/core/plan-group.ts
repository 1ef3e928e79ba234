import { act } from './group.ts'
import { planAof, planRecords, planReturns, planSize } from './plan-members.ts'
import { planHeir, planHome, planOthers, planSeal, planSurplus } from './plan-revision.ts'
import { settleRoles } from './settle-roles.ts'
import type { Goal, Seen, Verdict } from './topology.ts'

/**
 * What to do next so that `seen` becomes `goal`, for one group: a primary and its replicas.
 *
 * Pure and level-triggered: it asks what is true now, never what was done before, so planning again after any step,
 * or after a crash, gives the rest of the plan. The same rules create a database, keep it, upgrade it, undo an
 * upgrade (the goal is then the old revision) and remove it.
 *
 * In this order: who is leaving is gone · let go what an interrupted handover holds · one primary, followed by all · the records agree ·
 * enough shards · the primary on the goal's revision, by a surge shard and a handover, one handover at a time · then the other shards, one at
 * a time · then home, if asked · then nobody too many.
 */
export function planGroup(seen: Seen, goal: Goal): Verdict {
  const leaving = seen.shards.find((shard) => shard.leaving)
  if (leaving !== undefined) {
    return act({ kind: 'retire-shard', shard: leaving.id, why: 'its retirement has begun' })
  }
  if (goal.kind === 'remove') return planRemoval(seen)
  if (seen.shards.length === 0) {
    return act({ kind: 'add-shard', runs: goal, follow: null, why: 'the database has no shard yet' })
  }
  const roles = settleRoles(seen)
  if ('kind' in roles) return creationIsHopeless(seen, roles) ?? roles

  const { primary } = roles
  const group = { seen, goal, primary, replicas: seen.shards.filter((shard) => shard !== primary) }
  return (
    planRecords(group) ??
    planReturns(group) ??
    planSize(group) ??
    planAof(group) ??
    planSeal(group) ??
    planHeir(group) ??
    planOthers(group) ??
    planHome(group) ??
    planSurplus(group) ?? { kind: 'done' }
  )
}

/** Replicas first: the primary is the last to go. */
function planRemoval({ shards }: Seen): Verdict {
  const leaving = shards.findLast((shard) => shard.engine?.role !== 'primary') ?? shards.at(-1)
  if (leaving === undefined) return { kind: 'done' }
  return act({ kind: 'retire-shard', shard: leaving.id, why: 'the database is being removed' })
}
/** A first shard that has never served and cannot be started: there is nothing to lose and nobody to wait for. */
function creationIsHopeless({ shards, recordedPrimary }: Seen, verdict: Verdict): Verdict | undefined {
  const failed = shards.find((shard) => shard.process === 'failed')
  if (recordedPrimary !== null || failed === undefined || verdict.kind === 'do') return undefined
  return { kind: 'hopeless', why: `shard ${failed.id} does not start: ${failed.processWhy}` }
}
