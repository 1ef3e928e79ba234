import { describeOther, describeProcess, revisionOf } from '../state/goal.ts'
import { act, type Group, inBrackets } from '../state/group.ts'
import { claimsSlots, isLinked, isLive, type ObservedShard, type Verdict } from '../state/topology.ts'
import { retire } from './plan-durability.ts'

/** Releases holds first; then the store and the agents must know the primary. */
export function planRecords({ seen, primary, replicas }: Group): Verdict | undefined {
  if (seen.handover !== null && !seen.handover.released) {
    return act({
      kind: 'release-handover',
      primary: primary.id,
      why: 'the handover is over, with or without success; no client may be held any longer',
    })
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

/**
 * Ends a process that hangs next to a live primary: it holds nothing that the primary lacks, which its agent
 * cannot know alone. In cluster mode it may be an old primary whose pause ends: if it woke up later, it would
 * acknowledge writes before it learns of its successor.
 */
export function planHung({ primary, replicas }: Group): Verdict | undefined {
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
export function planRestarts(group: Group): Verdict | undefined {
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
export function whyPortIsTaken({ process, processWhy, portTaken }: ObservedShard): string | undefined {
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
export function planSize({ goal, primary, replicas }: Group): Verdict | undefined {
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
export function planAof({ goal, primary, replicas }: Group): Verdict | undefined {
  if (goal.persistence !== 'aof') return undefined
  const without = [primary, ...replicas].find(
    (shard) => isLive(shard) && shard.engine.aof === 'off' && (shard === primary || isLinked(shard, primary)),
  )
  if (without === undefined) return undefined
  return act({
    kind: 'enable-aof',
    shard: without.id,
    why: 'its writes must reach the disk before it may be primary',
  })
}

/**
 * Waits for a shard that is stopped by an earlier order, to run something else than the goal: it still
 * answers normally, and comes back on the ordered build.
 */
export function planStopping({ goal, primary, replicas }: Group): Verdict | undefined {
  const revision = revisionOf(goal)
  const turning = [primary, ...replicas].find(
    ({ process, wanted }) => process === 'stopping' && revisionOf(wanted) !== revision,
  )
  if (turning === undefined) return undefined
  const why = `shard ${turning.id} is being stopped, to run ${describeProcess(turning.wanted, goal)}; it is to run ${describeProcess(goal, turning.wanted)} again afterwards`
  return { kind: 'wait', shard: turning.id, code: 'shard_stopping', why }
}
