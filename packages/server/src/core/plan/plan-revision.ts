import { describeGoal, describeProcess, describeRevision, revisionOf } from '../state/goal.ts'
import { act, awaitShard, type Group, isReady } from '../state/group.ts'
import { obstacleToReplication, readsFilesOf } from '../state/replication-paths.ts'
import { planRoom } from '../state/successor-memory.ts'
import { type Goal, isLinked, isLive, type ObservedShard, type Verdict } from '../state/topology.ts'
import { losesStandby, whyDiverged } from '../state/way-back.ts'
import { lackOfDisk, lackOfMemory } from './node-room.ts'
import { planKeptBy, retire } from './plan-durability.ts'
import { cannotRead } from './plan-unreadable.ts'

/** Plans the handover of a primary on another revision to a shard on the goal's. */
export function planSuccessor(group: Group): Verdict | undefined {
  const { goal, primary, replicas } = group
  const revision = revisionOf(goal)
  if (primary.revision === revision) return undefined

  const successors = replicas.filter((shard) => shard.revision === revision)
  const sound = successors.filter((shard) => whyDiverged(shard, group) === undefined)
  const successor = sound.find((shard) => goal.homes.includes(shard.id)) ?? sound[0]
  if (successor === undefined) return planWithoutSuccessor(successors, group)
  const unreadable = successors.find((shard) => cannotRead(shard, primary))
  if (unreadable !== undefined)
    return {
      kind: 'hopeless',
      code: 'cannot_read',
      why: `shard ${unreadable.id} on ${describeGoal(goal)} cannot read the data: ${unreadable.trouble}`,
    }
  const unready = replicas.find((shard) => !isReady(shard, group))
  if (unready !== undefined) return awaitShard(unready, group)
  const crowded = isLive(successor) ? planRoom(successor, group) : undefined
  if (crowded !== undefined) return crowded
  const unkept = isLive(successor) ? planKeptBy(successor, group) : undefined
  if (unkept !== undefined) return unkept
  return act({
    kind: 'hand-over',
    from: primary.id,
    to: successor.id,
    why: `shard ${primary.id} runs ${describeRevision(primary.revision, revision)}, shard ${successor.id} runs ${describeRevision(revision, primary.revision)} and holds the same data`,
  })
}

/** Adds a shard, or upgrades one in place; or finds the goal unreachable. */
function planWithoutSuccessor(successors: readonly ObservedShard[], group: Group): Verdict {
  const { goal, primary } = group
  const unsound = successors[0] && whyDiverged(successors[0], group)
  if (unsound !== undefined) return { kind: 'hopeless', ...unsound }
  if (!goal.undo) return planNewSuccessor(group)
  const obstacle = obstacleToReplication(primary.wanted, goal)
  if (obstacle === undefined) return planNewSuccessor(group)
  return {
    kind: 'hopeless',
    code: 'cannot_read',
    why: `no standby on ${describeGoal(goal)} is left, and ${obstacle}`,
  }
}

function planNewSuccessor({ seen, goal, primary, replicas }: Group): Verdict {
  const onItsWay = replicas.find((shard) => revisionOf(shard.wanted) === revisionOf(goal))
  if (onItsWay !== undefined) return awaitStart(onItsWay)
  const detached = replicas.find((shard) => !isLinked(shard, primary))
  if (detached !== undefined) {
    return {
      kind: 'wait',
      shard: detached.id,
      code: 'replication',
      why: `replica ${detached.id} is not linked; nothing starts before every member is linked`,
    }
  }
  const noDisk = lackOfDisk(seen, primary)
  if (noDisk !== undefined) return { kind: 'hopeless', ...noDisk }
  const lacking = lackOfMemory(seen)
  if (lacking !== undefined) return planWithoutSurge(lacking.why, { goal, primary, replica: replicas[0] })
  return act({
    kind: 'add-shard',
    runs: goal,
    follow: primary.id,
    why: `a surge shard on ${describeGoal(goal)} proves the target before anything old is touched`,
  })
}

/** Upgrades an existing shard in place if there is no room for another, and its build and files allow it. */
function planWithoutSurge(
  lack: string,
  {
    goal,
    primary,
    replica,
  }: Pick<Group, 'goal' | 'primary'> & { readonly replica: ObservedShard | undefined },
): Verdict {
  if (!readsFilesOf((replica ?? primary).wanted.build, goal.build))
    return {
      kind: 'hopeless',
      code: 'node_room',
      why: `${lack}, and ${describeGoal(goal)} does not read the files of ${describeProcess(primary.wanted)}: no shard can be upgraded in place`,
    }
  if (replica === undefined) return planInPlace(lack, { goal, primary })
  if (losesStandby(replica.wanted.build, goal.build))
    return {
      kind: 'hopeless',
      code: 'node_room',
      why: `${lack}, and ${describeProcess(replica.wanted)} does not execute every command that ${describeGoal(goal)} sends: an old shard could not be the standby of one that is upgraded in place`,
    }
  return act({
    kind: 'restart-shard',
    shard: replica.id,
    runs: goal,
    follow: primary.id,
    why: `${lack}, so a replica is upgraded in place`,
  })
}

function awaitStart({ id, processWhy }: ObservedShard): Verdict {
  return {
    kind: 'wait',
    shard: id,
    code: 'shard_starting',
    why: `shard ${id} is being started: ${processWhy}`,
  }
}

/** No other shard can hold the data: the primary reloads them from its disk. */
function planInPlace(lacking: string, { goal, primary }: Pick<Group, 'goal' | 'primary'>): Verdict {
  if (!goal.inPlace)
    return {
      kind: 'hopeless',
      code: 'node_room',
      why: `${lacking}, and there is no replica to upgrade in place`,
    }
  return act({
    kind: 'restart-primary',
    shard: primary.id,
    runs: goal,
    why: `${lacking}; it has no replica, so it restarts in place and loads its data from disk`,
  })
}

/**
 * Completes the certificate of the last handover once every follower resumed the stream. One that cannot is
 * not waited for: the certificate counts its full sync, and the plan continues.
 */
export function planSeal({ seen, primary, replicas }: Group): Verdict | undefined {
  if (seen.handover === null) return undefined
  const unlinked = replicas.find((shard) => !isLinked(shard, primary))
  if (unlinked !== undefined && seen.handover.ageMs < RELINK_DEADLINE_MS) {
    return {
      kind: 'wait',
      shard: unlinked.id,
      code: 'replication',
      why: `shard ${unlinked.id} is about to resume the stream of its new primary`,
    }
  }
  const why =
    unlinked === undefined
      ? 'every follower has resumed the stream: the certificate says how many needed a full sync'
      : `shard ${unlinked.id} does not resume the stream: the certificate counts its full sync`
  return act({ kind: 'seal-handover', why })
}

/** Measured: 1 to 101 ms, and 1 s if an engine retries only in its cron. */
const RELINK_DEADLINE_MS = 15_000

/**
 * Replaces a replica that skipped a command, and so lacks data: a restart in place would keep the gap and
 * reset the count. The fresh shard starts first if there is memory for both.
 */
export function planDiverged(group: Group): Verdict | undefined {
  const { seen, goal, primary, replicas } = group
  const unsound = replicas.filter((shard) => whyDiverged(shard, group) !== undefined)
  const [first] = unsound
  if (first === undefined || goal.from === null) return undefined
  const sound = replicas.filter((shard) => !unsound.includes(shard))
  // An unlinked replica replaces no other. After a crash of all, old ones may never be linked again: they
  // cannot read what the new primary sends.
  const coming = isLinked(first, primary) ? sound.find((shard) => !isReady(shard, group)) : undefined
  if (coming !== undefined) return awaitShard(coming, group)
  const why = whyDiverged(first, group)?.why ?? ''
  if (sound.length >= goal.replicas) return retire(first, why, group)
  // The primary's last standby goes last, even if it lacks data. An undo does not wait for room.
  if (isLinked(first, primary) && !goal.undo) return planReplacement(first, why, group)
  return lackOfMemory(seen) === undefined
    ? act({ kind: 'add-shard', runs: goal, follow: primary.id, why: `in place of another: ${why}` })
    : retire(first, why, group)
}

/** Upgrades the others, one at a time, never with fewer replicas than the database had. */
export function planOthers(group: Group): Verdict | undefined {
  const { goal, primary, replicas } = group
  const revision = revisionOf(goal)
  const coming = replicas.find(
    (shard) =>
      revisionOf(shard.wanted) === revision && (shard.revision !== revision || !isReady(shard, group)),
  )
  if (coming !== undefined) return awaitShard(coming, group)

  const old = replicas.filter((shard) => shard.revision !== revision)
  const surplus = Math.max(0, replicas.length - goal.replicas)
  const leaving = goal.preserveRoles ? [] : firstToLeave(old, goal).slice(0, surplus)
  const next = old.find((shard) => !leaving.includes(shard))
  if (next === undefined) return undefined
  const isReadable = readsFilesOf(next.wanted.build, goal.build)
  const isShort = !goal.undo && replicas.length - old.length < goal.replicas
  if (!isReadable && isShort)
    return planReplacement(next, `${describeGoal(goal)} cannot read its files`, group)
  if (goal.undo || !isReadable) {
    const runs = `it runs ${describeRevision(next.revision, revision)}`
    const why = goal.undo
      ? `${runs} for the upgrade, which is taken back`
      : `${runs}, whose files ${describeRevision(revision, next.revision)} may not read`
    const then = surplus > 0 ? 'no other is needed in its place' : 'a fresh shard takes its place'
    return retire(next, `${why}; ${then}`, group)
  }
  return act({
    kind: 'restart-shard',
    shard: next.id,
    runs: goal,
    follow: primary.id,
    why: `it runs ${describeRevision(next.revision, revision)}`,
  })
}

/**
 * Replaces a shard that cannot be restarted on the goal; the fresh one starts first. Without room for both,
 * the old one goes first if enough others are standbys; otherwise it waits.
 */
function planReplacement(old: ObservedShard, why: string, group: Group): Verdict {
  const { seen, goal, primary, replicas } = group
  const lacking = lackOfMemory(seen)
  if (lacking === undefined)
    return act({
      kind: 'add-shard',
      runs: goal,
      follow: primary.id,
      why: `in place of shard ${old.id}: ${why}`,
    })
  const standing = replicas.filter((shard) => shard !== old && isLinked(shard, primary))
  if (standing.length >= goal.replicas)
    return retire(old, `${lacking.why}, and a fresh shard takes the place of this one: ${why}`, group)
  const words = `${lacking.why}: a fresh shard is to take the place of shard ${old.id}, which stays until there is room: ${why}`
  return { kind: 'wait', shard: old.id, code: 'node_room', why: words }
}

/** Orders the old primary first, because it served longest; then the youngest. */
function firstToLeave(shards: readonly ObservedShard[], goal: Goal): readonly ObservedShard[] {
  return shards.toSorted(
    (a, b) => Number(goal.homes.includes(b.id)) - Number(goal.homes.includes(a.id)) || b.id - a.id,
  )
}

/** Hands the role back to its former shard, if the goal asks for that. */
export function planRestoredRole(group: Group): Verdict | undefined {
  const { goal, primary, replicas } = group
  const home = replicas.find((shard) => goal.homes.includes(shard.id))
  if (!goal.preserveRoles || home === undefined) return undefined
  const crowded = isLive(home) ? planRoom(home, group) : undefined
  if (crowded !== undefined) return crowded
  const unkept = isLive(home) ? planKeptBy(home, group) : undefined
  if (unkept !== undefined) return unkept
  return act({
    kind: 'hand-over',
    from: primary.id,
    to: home.id,
    why: `preserve_roles: shard ${home.id} was the primary`,
  })
}

/** Retires a surplus replica, old ones first. */
export function planSurplus(group: Group): Verdict | undefined {
  const { goal, replicas } = group
  if (replicas.length <= goal.replicas) return undefined
  const revision = revisionOf(goal)
  const old = replicas.filter((shard) => shard.revision !== revision)
  const leaving =
    firstToLeave(old, goal)[0] ??
    replicas
      .toSorted((a, b) => b.id - a.id)
      .find((shard) => !goal.homes.includes(shard.id) || !goal.preserveRoles)
  if (leaving === undefined) return undefined
  return retire(leaving, 'every other shard runs the goal and is linked; this one is no longer needed', group)
}
