import { describeOther, describeProcess, revisionOf } from '../state/goal.ts'
import { act, type Group, inBrackets, progressOf } from '../state/group.ts'
import {
  claimsSlots,
  type Goal,
  isLinked,
  isLive,
  type LiveShard,
  type ObservedGroup,
  type ObservedShard,
  type Verdict,
} from '../state/topology.ts'
import { mayServe } from './may-serve.ts'
import { lackOfDisk } from './node-room.ts'
import { planSnapshot, retire } from './plan-durability.ts'
import {
  planDiverged,
  planOthers,
  planRestoredRole,
  planSeal,
  planSuccessor,
  planSurplus,
} from './plan-revision.ts'
import { planRoles } from './plan-roles.ts'
import { planUnreadable } from './plan-unreadable.ts'

/**
 * How far a group may go now. Each stage includes the earlier ones.
 * - `repair`: one primary, followed by all, and matching records. Always allowed, even while paused.
 * - `surge`: up to a shard on the goal's revision that is ready to take over. Nothing old is touched.
 * - `handover`: the primary role moves. The old primary stays as a standby: this is the way back.
 * - `end`: the others move to the goal, and surplus shards are retired. No way back.
 */
export type Stage = 'repair' | 'surge' | 'handover' | 'end'

/**
 * Returns the next verdict for one group, a primary and its replicas, on the way from `seen` to `goal`. Pure
 * and level-triggered: it uses only the present observation, so planning again after any step or crash gives
 * the rest of the plan. The same rules create, keep, upgrade and remove a database, and undo an upgrade (the
 * goal is then the old revision). Order:
 * 1. leaving shards go (a group without a primary does not wait for that)
 * 2. holds of an interrupted handover are released
 * 3. one primary, followed by all
 * 4. records match
 * 5. enough shards
 * 6. the primary on the goal's revision, by a surge shard and a handover, one handover at a time
 * 7. the other shards, one at a time
 * 8. the original primary again, if requested
 * 9. no surplus shard
 */
export function planGroup(seen: ObservedGroup, goal: Goal, stage: Stage = 'end'): Verdict {
  const leaving = seen.shards.find((shard) => shard.leaving)
  if (leaving !== undefined) {
    const retiring = act({ kind: 'retire-shard', shard: leaving.id, why: 'its retirement has begun' })
    return planWithout(seen, goal) ?? retiring
  }
  if (goal.kind === 'remove') return planRemoval(seen)
  const discarding = planDiscard(seen, goal, stage)
  if (discarding !== undefined) return discarding
  if (seen.shards.length === 0) {
    return act({ kind: 'add-shard', runs: goal, follow: null, why: 'the group has no shard yet' })
  }
  const roles = planRoles(seen, goal)
  if ('kind' in roles) return creationIsHopeless(seen, roles) ?? roles

  const { primary } = roles
  const group = { seen, goal, primary, replicas: seen.shards.filter((shard) => shard !== primary) }
  return planHung(group) ?? planRecords(group) ?? planStages(group, stage)
}

/**
 * Plans the rest of a group while a leaving shard's process takes long to end: one primary, followed by all,
 * and matching records. If the leaving shard may be the primary, it must end first. If no primary serves, a
 * leaving shard stays while it may have to take over.
 */
function planWithout(seen: ObservedGroup, goal: Goal): Verdict | undefined {
  const staying = { ...seen, shards: seen.shards.filter(({ leaving }) => !leaving) }
  const isWhole = goal.kind === 'remove' || goal.discard || staying.shards.length === 0
  if (isWhole || seen.shards.some((shard) => shard.leaving && mayServe(shard, seen))) return undefined
  const kept = seen.shards.filter((shard) => !shard.leaving || mayStay(shard))
  if (kept.length > staying.shards.length && !staying.shards.some(isPrimary)) {
    const roles = planRoles({ ...seen, shards: kept }, goal)
    if ('kind' in roles) return roles
  }
  const repair = planGroup(staying, goal, 'repair')
  return repair.kind === 'do' ? repair : undefined
}

/** True if its agent has no order to end it yet: it answers, with its data. */
function mayStay(shard: ObservedShard): boolean {
  return isLive(shard) && shard.process === 'running' && shard.revision === revisionOf(shard.wanted)
}

function isPrimary({ engine }: ObservedShard): boolean {
  return engine?.role === 'primary'
}

function planStages(group: Group, stage: Stage): Verdict {
  if (stage === 'repair') return planSeal(group) ?? held
  const first =
    planRestarts(group) ??
    planUnreadable(group) ??
    planSize(group) ??
    planAof(group) ??
    planSaving(group) ??
    planSeal(group) ??
    planSnapshot(group) ??
    planSuccessor(group)
  if (first !== undefined) return stage === 'surge' && endsService(first) ? held : first
  const last = planDiverged(group) ?? planOthers(group) ?? planRestoredRole(group) ?? planSurplus(group)
  if (last === undefined) return planStopping(group) ?? { kind: 'done' }
  return stage === 'end' ? last : held
}

/** Waits for an approval; the code that chose the stage knows which. */
const held: Verdict = { kind: 'hold', on: 'group', code: 'other_groups', why: '' }

/** True if clients may notice the step, for milliseconds or for the length of a restart. */
function endsService(verdict: Verdict): boolean {
  return verdict.kind === 'do' && ['hand-over', 'restart-primary'].includes(verdict.step.kind)
}

/** Removes shards of another revision with their data, the primary last: the next shard begins empty. */
function planDiscard(seen: ObservedGroup, goal: Goal, stage: Stage): Verdict | undefined {
  const old = seen.shards.filter((shard) => revisionOf(shard.wanted) !== revisionOf(goal))
  if (!goal.discard || old.length === 0) return undefined
  if (stage === 'repair' || stage === 'surge') return held
  const leaving = old.findLast((shard) => shard.engine?.role !== 'primary') ?? old[0]
  return (
    leaving && act({ kind: 'retire-shard', shard: leaving.id, why: 'its data is discarded, as requested' })
  )
}

/** Removes replicas first, the primary last. */
function planRemoval({ shards }: ObservedGroup): Verdict {
  const leaving = shards.findLast((shard) => shard.engine?.role !== 'primary') ?? shards.at(-1)
  if (leaving === undefined) return { kind: 'done' }
  return act({ kind: 'retire-shard', shard: leaving.id, why: 'the database is being removed' })
}
/** Replaces a first shard that has never served and cannot be started: there are no data to lose. */
function creationIsHopeless(
  { shards, recordedPrimary }: ObservedGroup,
  verdict: Verdict,
): Verdict | undefined {
  const failed = shards.find((shard) => shard.process === 'failed')
  if (recordedPrimary !== null || failed === undefined || verdict.kind === 'do') return undefined
  const taken = whyPortIsTaken(failed)
  if (taken !== undefined)
    return act({ kind: 'retire-shard', shard: failed.id, why: `another one takes its place: ${taken}` })
  return {
    kind: 'hopeless',
    code: 'shard_failing',
    why: `shard ${failed.id} does not start: ${failed.processWhy}`,
  }
}

/** Releases holds first; then the store and the agents must know the primary. */
function planRecords({ seen, goal, primary, replicas }: Group): Verdict | undefined {
  if (seen.handover !== null && !seen.handover.released) {
    return act({
      kind: 'release-handover',
      primary: primary.id,
      why: 'the handover is over, with or without success; no client may be held any longer',
    })
  }
  if (goal.seeds !== undefined && isBereft(primary, goal)) {
    const why = `shard ${primary.id} died after it had loaded the data of the backup: nothing was on its disk`
    return { kind: 'hopeless', code: 'shard_failing', why }
  }
  // Its agent counts the data of a backup before it reports the process as running.
  if (goal.seeds !== undefined && seen.recordedPrimary === null && primary.process !== 'running') {
    const why = `shard ${primary.id} loads the data of the backup`
    return { kind: 'wait', shard: primary.id, code: 'loading', why }
  }
  if (seen.recordedPrimary !== primary.id) {
    return act({
      kind: 'record-primary',
      shard: primary.id,
      why: 'it is the primary: the endpoint must point at it',
    })
  }
  if (primary.follows !== null) {
    return act({
      kind: 'record-follows',
      shard: primary.id,
      follow: null,
      why: 'it is the primary, also after a restart of its process',
    })
  }
  const stale = replicas.find((shard) => shard.process === 'running' && shard.follows !== primary.id)
  if (stale === undefined) return undefined
  return act({
    kind: 'record-follows',
    shard: stale.id,
    follow: primary.id,
    why: `it follows shard ${primary.id}, also after a restart of its process`,
  })
}

/** True if its process has replaced one that died, and nothing is saved. */
function isBereft({ beganAfterDeath }: ObservedShard, { persistence }: Goal): boolean {
  return beganAfterDeath && persistence === 'disabled'
}

/**
 * Ends a process that hangs next to a live primary: it holds nothing that the primary lacks, which its agent
 * cannot know alone. In cluster mode it may be an old primary whose pause ends: if it woke up later, it would
 * acknowledge writes before it learns of its successor.
 */
function planHung({ primary, replicas }: Group): Verdict | undefined {
  const hung = replicas.find((shard) => shard.engine === null && shard.silence?.hung)
  if (hung?.silence == null) return undefined
  return act({
    kind: 'end-process',
    shard: hung.id,
    startedAt: hung.silence.startedAt,
    why: `it hangs${inBrackets(hung.processWhy)}, and shard ${primary.id} serves`,
  })
}

/** Handles shards with a wrong process: never started, ended, or failing. */
function planRestarts(group: Group): Verdict | undefined {
  const { goal, primary, replicas } = group
  const unmoved = replicas.find((shard) => isUnmoved(shard, revisionOf(goal)))
  if (unmoved !== undefined) {
    const why = `it still ${describeOther(unmoved.revision, revisionOf(goal))}`
    return act({ kind: 'restart-shard', shard: unmoved.id, runs: goal, follow: primary.id, why })
  }
  const staleClaimant = replicas.find((shard) => claimsSlots(shard, group.seen))
  if (staleClaimant !== undefined) {
    const why =
      'it would come back with the slots of the group and without its data; a fresh shard takes its place'
    return retire(staleClaimant, why, group)
  }
  const lost = replicas.find((shard) => whyStart(shard, primary) !== undefined)
  if (lost !== undefined) {
    return act({
      kind: 'start-shard',
      shard: lost.id,
      follow: primary.id,
      why: whyStart(lost, primary) ?? '',
    })
  }
  const failed = replicas.find((shard) => shard.process === 'failed')
  return failed === undefined ? undefined : planFailed(failed, group)
}

/** True if its process does not run what was ordered: it refused to stop, or the goal changed in between. */
function isUnmoved(shard: ObservedShard, revision: string): boolean {
  return shard.process === 'running' && shard.revision === revision && revisionOf(shard.wanted) !== revision
}

/** Returns why the server must start a shard. Its agent restarts an ended replica with the right spec. */
function whyStart(shard: ObservedShard, primary: ObservedShard): string | undefined {
  if (shard.process === 'absent') return 'its process was never started'
  if (shard.process === 'exited' && (shard.follows !== primary.id || shard.asleep))
    return `its process ended: ${shard.processWhy}`
  const wanted = revisionOf(shard.wanted)
  if (shard.process === 'running' && shard.revision !== wanted)
    return `it ${describeOther(shard.revision, wanted)}`
  return undefined
}

/** Another process took its port between search and start: a new shard gets another port. */
function whyPortIsTaken({ process, processWhy, portTaken }: ObservedShard): string | undefined {
  return process === 'failed' && portTaken === true ? processWhy : undefined
}

function planFailed(failed: ObservedShard, group: Group): Verdict {
  const { goal, primary } = group
  const revision = revisionOf(goal)
  const taken = whyPortIsTaken(failed)
  if (taken !== undefined) return retire(failed, `another one takes its place: ${taken}`, group)
  if (revisionOf(primary.wanted) !== revision) {
    return {
      kind: 'hopeless',
      code: 'shard_failing',
      why: `shard ${failed.id} on ${describeProcess(failed.wanted, primary.wanted)} does not start: ${failed.processWhy}`,
    }
  }
  if (revisionOf(failed.wanted) !== revision) {
    return retire(
      failed,
      `it does not start on ${describeProcess(failed.wanted, goal)}, which is not wanted any more`,
      group,
    )
  }
  return {
    kind: 'stuck',
    code: 'shard_failing',
    why: `shard ${failed.id} does not start: ${failed.processWhy}`,
    retry: { kind: 'start-shard', shard: failed.id, follow: primary.id, why: 'it may start now' },
  }
}

/** Adds a replica if there are too few and the primary runs the goal. */
function planSize({ goal, primary, replicas }: Group): Verdict | undefined {
  if (replicas.length >= goal.replicas) return undefined
  if (revisionOf(primary.wanted) !== revisionOf(goal)) return undefined
  return act({
    kind: 'add-shard',
    runs: goal,
    follow: primary.id,
    why: `the database is to have ${goal.replicas} replica(s)`,
  })
}

/** Switches on a linked replica's append-only file: only without one can a replica resume the stream. */
function planAof({ seen, goal, primary, replicas }: Group): Verdict | undefined {
  if (goal.persistence !== 'aof') return undefined
  const without = [primary, ...replicas].find(
    (shard) => isLive(shard) && shard.engine.aof === 'off' && (shard === primary || isLinked(shard, primary)),
  )
  if (without === undefined) return undefined
  // An engine that cannot write to it refuses writes, or ends.
  const lacking = goal.change !== undefined && isLive(without) ? lackOfDisk(seen, without) : undefined
  if (lacking !== undefined) return { kind: 'stuck', ...lacking }
  return act({
    kind: 'enable-aof',
    shard: without.id,
    why: 'its writes must reach the disk before it may be primary',
  })
}

/**
 * Waits for a shard whose process does not save its data as wanted yet: its agent changes that. A change of
 * the database, or a restore, also waits for a whole append-only file, which may still be written.
 */
function planSaving({ goal, primary, replicas }: Group): Verdict | undefined {
  const shard = [primary, ...replicas].filter(isLive).find((one) => isUnsaved(one, goal))
  if (shard === undefined) return undefined
  const said = shard.trouble === '' ? '' : ` (its log: ${shard.trouble})`
  const why = `shard ${shard.id} ${waysToSave[goal.persistence]}${said}`
  return { kind: 'wait', shard: shard.id, code: 'saving', why, ...progressOf(shard.engine) }
}

function isUnsaved({ saving, engine }: LiveShard, { persistence, change, seeds }: Goal): boolean {
  if (saving == null) return false
  if (saving.changing === true || saving.persistence !== persistence) return true
  const isNew = change !== undefined || seeds !== undefined
  return isNew && persistence === 'aof' && engine.aof !== 'on'
}

const waysToSave: Readonly<Record<Goal['persistence'], string>> = {
  aof: 'writes its append-only file',
  snapshot: 'writes a snapshot, before its append-only file ends',
  disabled: 'stops saving its data',
}

/**
 * Waits for a shard that is stopped by an earlier order, to run something else than the goal: it still
 * answers normally, and comes back on the ordered build.
 */
function planStopping({ goal, primary, replicas }: Group): Verdict | undefined {
  const revision = revisionOf(goal)
  const turning = [primary, ...replicas].find(
    ({ process, wanted }) => process === 'stopping' && revisionOf(wanted) !== revision,
  )
  if (turning === undefined) return undefined
  const why = `shard ${turning.id} is being stopped, to run ${describeProcess(turning.wanted, goal)}; it is to run ${describeProcess(goal, turning.wanted)} again afterwards`
  return { kind: 'wait', shard: turning.id, code: 'shard_stopping', why }
}
