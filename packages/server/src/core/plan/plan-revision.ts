import { revisionOf } from '../state/goal.ts'
import { act, awaitShard, type Group, isReady } from '../state/group.ts'
import { planRoom } from '../state/heir-memory.ts'
import type { Obstacle } from '../state/obstacle.ts'
import { obstacleToReplication, readsFilesOf } from '../state/replication-paths.ts'
import { surgeBytes } from '../state/surge-bytes.ts'
import {
  type Goal,
  isLinked,
  isLive,
  type LiveShard,
  type Seen,
  type SeenShard,
  type Verdict,
} from '../state/topology.ts'
import { whyUnsound } from '../state/way-back.ts'
import { planKeptBy, retire } from './plan-durability.ts'

/** The primary runs another revision than the goal's: it hands over to a shard that does not. */
export function planHeir(group: Group): Verdict | undefined {
  const { goal, primary, replicas } = group
  const revision = revisionOf(goal)
  if (primary.revision === revision) return undefined

  const heirs = replicas.filter((shard) => shard.revision === revision)
  const sound = heirs.filter((shard) => whyUnsound(shard, group) === undefined)
  const heir = sound.find((shard) => goal.homes.includes(shard.id)) ?? sound[0]
  if (heir === undefined) return planWithoutHeir(heirs, group)
  const unreadable = heirs.find((shard) => cannotRead(shard, primary))
  if (unreadable !== undefined)
    return {
      kind: 'hopeless',
      code: 'cannot_read',
      why: `shard ${unreadable.id} on ${revision} cannot read the data: ${unreadable.trouble}`,
    }
  const unready = replicas.find((shard) => !isReady(shard, group))
  if (unready !== undefined) return awaitShard(unready, group)
  const crowded = isLive(heir) ? planRoom(heir, group) : undefined
  if (crowded !== undefined) return crowded
  const unkept = isLive(heir) ? planKeptBy(heir, group) : undefined
  if (unkept !== undefined) return unkept
  return act({
    kind: 'hand-over',
    from: primary.id,
    to: heir.id,
    why: `shard ${primary.id} runs ${primary.revision}, shard ${heir.id} runs ${revision} and holds the same data`,
  })
}

/** Nobody to take over: a further shard has to come, or those there are cannot be trusted with the role. */
function planWithoutHeir(heirs: readonly SeenShard[], group: Group): Verdict {
  const { goal, primary } = group
  const unsound = heirs[0] && whyUnsound(heirs[0], group)
  if (unsound !== undefined) return { kind: 'hopeless', ...unsound }
  if (!goal.undo) return planNewHeir(group)
  const obstacle = obstacleToReplication(primary.wanted, goal)
  if (obstacle === undefined) return planNewHeir(group)
  return {
    kind: 'hopeless',
    code: 'cannot_read',
    why: `no standby on ${revisionOf(goal)} is left, and ${obstacle}`,
  }
}

function planNewHeir({ seen, goal, primary, replicas }: Group): Verdict {
  const onItsWay = replicas.find((shard) => revisionOf(shard.wanted) === revisionOf(goal))
  if (onItsWay !== undefined) return awaitStart(onItsWay)
  const detached = replicas.find((shard) => !isLinked(shard, primary))
  if (detached !== undefined) {
    return {
      kind: 'wait',
      shard: detached.id,
      code: 'replication',
      why: `replica ${detached.id} is not linked; nothing is begun before every member is`,
    }
  }
  const noDisk = lackOfDisk(seen, primary)
  if (noDisk !== undefined) return { kind: 'hopeless', ...noDisk }
  const lacking = lackOfMemory(seen)
  if (lacking === undefined) {
    return act({
      kind: 'add-shard',
      runs: goal,
      follow: primary.id,
      why: `a surge shard on ${revisionOf(goal)} proves the target before anything old is touched`,
    })
  }
  const replica = replicas[0]
  if (!readsFilesOf((replica ?? primary).wanted.build, goal.build))
    return {
      kind: 'hopeless',
      code: 'node_room',
      why: `${lacking.why}, and ${revisionOf(goal)} does not read the files of ${revisionOf(primary.wanted)}: no shard can be upgraded in place`,
    }
  if (replica === undefined) return planInPlace(lacking.why, { goal, primary })
  return act({
    kind: 'restart-shard',
    shard: replica.id,
    runs: goal,
    follow: primary.id,
    why: `${lacking.why}, so a replica is upgraded in place`,
  })
}

/** It says so itself, and would say it again at each of its attempts: every one costs the primary a fork. */
function cannotRead(shard: SeenShard, primary: LiveShard): boolean {
  return !isLinked(shard, primary) && shard.cannotRead === true
}

function awaitStart({ id, processWhy }: SeenShard): Verdict {
  return {
    kind: 'wait',
    shard: id,
    code: 'shard_starting',
    why: `shard ${id} is being started: ${processWhy}`,
  }
}

/** Nobody can hold the data meanwhile but its disk. */
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

/** A surge shard needs the primary's data once more, with room to receive it. Without it a replica can stand in. */
function lackOfMemory(seen: Seen): Obstacle | undefined {
  const { node } = seen
  const bytes = surgeBytes(seen)
  if (node.memoryFreeBytes >= bytes) return undefined
  const why = `a surge shard needs ${megabytes(bytes)} MB of memory and the node has ${megabytes(node.memoryFreeBytes)} MB free`
  return { code: 'node_room', why }
}

/** Every way needs it: a surge shard writes its files, and a replica saves its data before it restarts. */
function lackOfDisk({ node }: Seen, { engine }: LiveShard): Obstacle | undefined {
  const bytes = engine.usedMemoryBytes * 2 + SPARE_DISK_BYTES
  if (node.diskFreeBytes >= bytes) return undefined
  const why = `the upgrade needs ${megabytes(bytes)} MB of disk and the node has ${megabytes(node.diskFreeBytes)} MB free`
  return { code: 'node_room', why }
}

const SPARE_DISK_BYTES = 96 * 1024 * 1024

const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024)

/**
 * The certificate of the last handover is complete once every follower resumed the stream. One that cannot is not
 * waited for: the count of full syncs says so, and the plan goes on from what is.
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
  return act({ kind: 'seal-handover', why: 'the followers resumed the stream: count the full syncs it took' })
}

/** Measured: 1 to 101 ms, and 1 s where an engine tries again only in its cron. */
const RELINK_DEADLINE_MS = 15_000

/**
 * Whoever skipped a command of its primary lacks data, and a restart in place would keep the hole and forget the count:
 * a fresh shard takes its place, before it goes where there is memory for that.
 */
export function planUnsound(group: Group): Verdict | undefined {
  const { seen, goal, primary, replicas } = group
  const unsound = replicas.filter((shard) => whyUnsound(shard, group) !== undefined)
  const [first] = unsound
  if (first === undefined || goal.from === null) return undefined
  const sound = replicas.filter((shard) => !unsound.includes(shard))
  // Who is not linked stands in for nobody. After a crash of all, old ones may never be again: they cannot read what the new one sends.
  const coming = isLinked(first, primary) ? sound.find((shard) => !isReady(shard, group)) : undefined
  if (coming !== undefined) return awaitShard(coming, group)
  const why = whyUnsound(first, group)?.why ?? ''
  if (sound.length < goal.replicas && lackOfMemory(seen) === undefined)
    return act({ kind: 'add-shard', runs: goal, follow: primary.id, why: `in place of another: ${why}` })
  return retire(first, why, group)
}

/** With the primary on the goal's revision: the others, one at a time, never below the replicas the database had. */
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
  if (!isReadable && isShort) return planReplacement(next, group)
  if (goal.undo || !isReadable) {
    const why = `it runs ${next.revision}, whose files ${revision} may not read; a fresh shard takes its place`
    return retire(next, why, group)
  }
  return act({
    kind: 'restart-shard',
    shard: next.id,
    runs: goal,
    follow: primary.id,
    why: `it runs ${next.revision}`,
  })
}

/**
 * A fresh shard in place of one whose files the goal cannot read, before that one goes. Where the node has no room for both, it goes first if
 * another one stands by as well; the last one that stands by stays until there is room.
 */
function planReplacement(old: SeenShard, group: Group): Verdict {
  const { seen, goal, primary, replicas } = group
  const files = `whose files ${revisionOf(goal)} cannot read`
  const lacking = lackOfMemory(seen)
  if (lacking === undefined)
    return act({
      kind: 'add-shard',
      runs: goal,
      follow: primary.id,
      why: `in place of shard ${old.id}, ${files}`,
    })
  const standing = replicas.filter((shard) => shard !== old && isLinked(shard, primary))
  if (standing.length >= goal.replicas)
    return retire(old, `${lacking.why}, and a fresh shard shall take the place of this one, ${files}`, group)
  const why = `${lacking.why}: a fresh shard shall take the place of shard ${old.id}, ${files}, which stays until there is room`
  return { kind: 'wait', shard: old.id, code: 'node_room', why }
}

/** The old primary leaves first: it served the longest; then the youngest. */
function firstToLeave(shards: readonly SeenShard[], goal: Goal): readonly SeenShard[] {
  return shards.toSorted(
    (a, b) => Number(goal.homes.includes(b.id)) - Number(goal.homes.includes(a.id)) || b.id - a.id,
  )
}

/** Hands the role back to the shard that had it before, where the goal asks for that; undefined: nothing to do. */
export function planHome(group: Group): Verdict | undefined {
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

/** Retires a replica that the goal has no place for, the old ones first; undefined: nothing to do. */
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
