import type { History } from '../state/database.ts'
import { act, inBrackets } from '../state/group.ts'
import {
  isLive,
  type LiveShard,
  type ObservedGroup,
  type ObservedShard,
  type Snapshot,
  type Verdict,
} from '../state/topology.ts'
import { mayHaveOldValues } from '../state/way-back.ts'
import { isEmptyDisk } from './kept-on-disk.ts'

/**
 * Decides by disks when no running shard has been in the lost primary's stream. The recorded primary comes
 * first, from its disk; another shard if that disk is empty, or known to be older than its data. Undefined if
 * no disk is better than the recorded primary's, which is then started if possible.
 */
export function planFromDisks(seen: ObservedGroup): Verdict | undefined {
  const recorded = seen.shards.find(({ id }) => id === seen.recordedPrimary)
  if (recorded === undefined) return planEmpty('the last primary is gone', undefined, seen)
  if (isLive(recorded)) return planCameBack(recorded, seen)
  if (recorded.disk === null) {
    const why = `the data on the disk of shard ${recorded.id}, the last primary, is not known yet`
    return { kind: 'wait', shard: recorded.id, code: 'shard_silent', why }
  }
  const successor = tookOverUnheard(recorded, seen)
  if (successor !== undefined)
    return comeBack(
      successor,
      `it had taken over from shard ${recorded.id}, and died before that was recorded`,
    )
  if (!isEmptyDisk(recorded)) return planOlderDisk(recorded, seen)
  return planEmpty(`the disk of shard ${recorded.id}, the last primary, is empty`, recorded, seen)
}

/**
 * Returns a successor that had taken over unrecorded: in cluster mode an engine saves its takeover before it
 * answers, so the shard with the higher epoch served last.
 */
function tookOverUnheard(recorded: ObservedShard, seen: ObservedGroup): ObservedShard | undefined {
  const { shards, handover, slots } = seen
  if (slots === null || handover === null || handover.released) return undefined
  const successor = shards.find(({ id }) => id === handover.to && id !== recorded.id)
  if (successor === undefined || isLive(successor) || successor.disk?.claim == null) return undefined
  if (isEmptyDisk(successor) && !isEmptyDisk(recorded)) return undefined
  // The snapshot was being written when the role moved.
  if (isNewerDisk(recorded, successor, seen)) return undefined
  return successor.disk.claim > (recorded.disk?.claim ?? -1) ? successor : undefined
}

/**
 * Handles a recorded primary that came back as a replica: in cluster mode a process starts in its last role,
 * and it had stepped down for a lost successor.
 */
function planCameBack(recorded: LiveShard, seen: ObservedGroup): Verdict | undefined {
  const { role, streamed, syncing, loading, keys, replid, offset } = recorded.engine
  if (role !== 'replica' || streamed || syncing || loading) return undefined
  const others = seen.shards.filter(isLive).filter((shard) => shard !== recorded && holdsData(shard))
  const newer = others
    .filter(({ engine }) => keys === 0 || (engine.replid === replid && engine.offset > offset))
    .toSorted((a, b) => compareHeld(a, b, seen))[0]
  const why = `no shard that ran with the last primary is left, and this one came back with the most data`
  return act({ kind: 'promote', shard: (newer ?? recorded).id, why })
}

/** If started, `last` would empty every shard that follows it: a shard with data goes first. */
function planEmpty(why: string, last: ObservedShard | undefined, seen: ObservedGroup): Verdict | undefined {
  const others = seen.shards.filter((shard) => shard !== last)
  const unread = others.find((shard) => isLive(shard) && !shard.engine.streamed && hasUnreadAof(shard))
  if (unread !== undefined) {
    const words = `${why}, and shard ${unread.id} has an append-only file that its process has not loaded; decide which data to serve`
    return { kind: 'stuck', code: 'data_missing', why: words }
  }
  const [best] = others
    .filter(isLive)
    .filter(holdsData)
    .toSorted((a, b) => compareHeld(a, b, seen))
  if (best !== undefined)
    return act({ kind: 'promote', shard: best.id, why: `${why}, and shard ${best.id} holds the most` })
  const asleep = others.find((shard) => !isLive(shard) && shard.disk !== null && !isEmptyDisk(shard))
  return asleep && comeBack(asleep, `${why}, and that of shard ${asleep.id} is not`)
}

/** Handles a last primary with data on disk, when another shard has more of the same history. */
function planOlderDisk(last: ObservedShard, seen: ObservedGroup): Verdict | undefined {
  const others = seen.shards.filter((shard) => shard !== last)
  const [newer] = others
    .filter(isLive)
    .filter((shard) => isNewerThanDisk(shard, last, seen))
    .toSorted((a, b) => compareHeld(a, b, seen))
  const asleep = others
    .filter((shard) => !isLive(shard) && shard.process !== 'failed' && isNewerDisk(shard, last, seen))
    .reduce<ObservedShard | undefined>(
      (best, shard) => (best === undefined || isNewerDisk(shard, best, seen) ? shard : best),
      undefined,
    )
  if (newer !== undefined && (asleep === undefined || !isAhead(asleep, newer, seen))) {
    const why = `it holds more (offset ${newer.engine.offset}) than the disk of shard ${last.id}, the last primary`
    return act({ kind: 'promote', shard: newer.id, why })
  }
  return asleep && comeBack(asleep, `its disk holds more than that of shard ${last.id}, the last primary`)
}

/** True if the snapshot of a stopped shard holds more than a running shard. */
function isAhead({ disk }: ObservedShard, { engine }: LiveShard, { history }: ObservedGroup): boolean {
  if (disk === null || disk.aof !== 'none' || disk.snapshot === null) return false
  return holdsMore(disk.snapshot, engine, history)
}

/**
 * Starts the last primary from its append-only file, if that is complete and the best candidate may have old
 * values. Not if its process does not start.
 */
export function planOldValues(
  successor: LiveShard,
  recorded: ObservedShard | undefined,
): Verdict | undefined {
  if (recorded === undefined || recorded === successor || !mayHaveOldValues(successor, recorded))
    return undefined
  if (recorded.process !== 'exited' || recorded.failsToStart != null || recorded.disk?.aof !== 'whole')
    return undefined
  const why = `shard ${successor.id} may have old values, and the append-only file of shard ${recorded.id} holds each write`
  return comeBack(recorded, why)
}

function comeBack(shard: ObservedShard, why: string): Verdict {
  const { id, process, processWhy, asleep } = shard
  const step = { kind: 'start-shard', shard: id, follow: null, why } as const
  if (process === 'absent' || (process === 'exited' && asleep)) return act(step)
  const words = `${why}: it comes back first${inBrackets(processWhy)}`
  return process === 'failed'
    ? { kind: 'stuck', code: 'shard_failing', why: words, retry: step }
    : { kind: 'wait', shard: id, code: 'shard_starting', why: words }
}

function isNewerDisk(
  { disk: mine }: ObservedShard,
  { disk: theirs }: ObservedShard,
  { history }: ObservedGroup,
): boolean {
  if (mine === null || theirs === null || theirs.aof === 'whole') return false
  if (mine.aof === 'whole') return true
  const [a, b] = [mine.snapshot, theirs.snapshot]
  return a != null && b !== null && holdsMore(a, b, history)
}

type Point = Pick<Snapshot, 'replid' | 'offset'>

/**
 * True if one point of a history holds more than another. A process has the id of a new history before its
 * data: a snapshot of that moment holds less than one of the former history. Without a known relation, the
 * recorded history wins.
 */
function holdsMore(mine: Point, theirs: Point, history: History | null): boolean {
  if (mine.replid === null || mine.offset === null) return false
  if (mine.replid === theirs.replid) return mine.offset > (theirs.offset ?? 0)
  const [a, b] = [heldOf(mine, history), heldOf(theirs, history)]
  return a !== null && b !== null ? a > b : mine.replid === history?.replid
}

/** Returns how much of the recorded history a point contains, as an offset; null if unknown. */
function heldOf({ replid, offset }: Point, history: History | null): number | null {
  if (history === null || offset === null) return null
  if (replid === history.replid) return offset
  return replid === history.before?.replid ? Math.min(offset, history.before.until - 1) : null
}

/**
 * True if a running shard holds more than the last primary's disk, as far as recorded. A complete append-only
 * file holds everything acknowledged.
 */
export function isNewerThanDisk(
  { engine }: LiveShard,
  last: ObservedShard,
  { history }: ObservedGroup,
): boolean {
  if (last.disk === null || engine.role !== 'replica' || engine.syncing || engine.loading) return false
  const { snapshot, aof } = last.disk
  if (aof === 'whole') return false
  if (snapshot?.replid == null || snapshot.offset === null)
    return aof === 'none' && engine.keys > 0 && snapshot === null
  if (engine.replid === snapshot.replid) return engine.offset > snapshot.offset
  if (engine.replid2 === snapshot.replid)
    return engine.secondOffset > snapshot.offset && engine.offset >= snapshot.offset
  return engine.replid === history?.replid && holdsMore(engine, snapshot, history)
}

function hasUnreadAof({ engine, disk }: LiveShard): boolean {
  return engine.aof === 'off' && disk !== null && disk.aof !== 'none'
}

function holdsData({ engine }: LiveShard): boolean {
  return engine.role === 'replica' && engine.keys > 0 && !engine.syncing && !engine.loading
}

/** Orders shards with the recorded history first, then by the amount of it. */
function compareHeld(
  { engine: a, id }: LiveShard,
  { engine: b, id: other }: LiveShard,
  { history }: ObservedGroup,
) {
  const knows = ({ replid, replid2 }: typeof a) =>
    Number(history === null || replid === history.replid || replid2 === history.replid)
  return knows(b) - knows(a) || b.offset - a.offset || b.keys - a.keys || id - other
}
