import { describeGoal, revisionOf } from '../state/goal.ts'
import { act, inBrackets } from '../state/group.ts'
import {
  type Goal,
  isAt,
  isLive,
  type LiveShard,
  type ObservedGroup,
  type ObservedShard,
  type Verdict,
} from '../state/topology.ts'
import { mayHaveOldValues } from '../state/way-back.ts'
import { reachOf } from './kept-on-disk.ts'
import { isSilent, mayServe } from './may-serve.ts'
import { planFromDisks, planOldValues } from './plan-from-disks.ts'
import { hasStrangersData, planLostSlots, planTakeBack } from './plan-take-back.ts'

/**
 * Ensures that a group has exactly one primary and that the others follow it: the table at the end of
 * docs/explain/measurements/handover.md as code. Observed roles decide; a recorded intent only breaks ties.
 * Returns the primary if roles are right, otherwise this turn's verdict.
 */
export function planRoles(seen: ObservedGroup, goal: Goal): { readonly primary: LiveShard } | Verdict {
  const live = seen.shards.filter(isLive)
  const primaries = live.filter(({ engine }) => engine.role === 'primary')
  const [first, second] = primaries
  if (first === undefined) return planBlank(seen, live) ?? planMissingPrimary(seen, live, goal)
  if (second !== undefined) return planTwoPrimaries(first, second, seen)

  const lost = planLostSlots(first, seen)
  if (lost !== undefined) return lost
  const misdirected = live.find((shard) => shard !== first && !isAt(shard.engine.primary, first))
  return misdirected === undefined ? { primary: first } : planMisdirected(misdirected, first, seen)
}

/** Gives slots to the first shard of a group in cluster mode, if no shard that ever served is on record. */
function planBlank(seen: ObservedGroup, live: readonly LiveShard[]): Verdict | undefined {
  const blank = live.find(({ engine }) => engine.role === 'blank')
  const isKnown = seen.shards.some((shard) => shard.id === seen.recordedPrimary)
  if (blank === undefined || seen.slots === null || isKnown) return undefined
  return act({
    kind: 'assign-slots',
    shard: blank.id,
    slots: seen.slots,
    why: `it is the first shard of the group that serves slots ${seen.slots.first} to ${seen.slots.last}`,
  })
}

function planMisdirected(misdirected: LiveShard, primary: LiveShard, seen: ObservedGroup): Verdict {
  const { shards, slots } = seen
  const followed = shards.find((shard) => isLive(shard) && isAt(misdirected.engine.primary, shard))
  if (slots !== null && followed !== undefined) {
    // Alone it resumes the stream; an order would cause a full sync (measured on Valkey 8.0).
    const why = `shard ${misdirected.id} follows shard ${followed.id} until the cluster has told it which shard took over`
    return { kind: 'wait', shard: misdirected.id, code: 'cluster_view', why }
  }
  const id = primary.engine.cluster?.id
  if (id !== undefined && !misdirected.engine.cluster?.nodes.some((node) => node.id === id)) {
    const why = `shard ${misdirected.id} does not know shard ${primary.id} in the cluster yet`
    return { kind: 'wait', shard: misdirected.id, code: 'cluster_view', why }
  }
  if (mayFollow(misdirected, primary)) {
    return act({
      kind: 'follow',
      shard: misdirected.id,
      primary: primary.id,
      why: `shard ${primary.id} is the primary, and its history continues this one's`,
    })
  }
  if (hasStrangersData(misdirected, primary, seen)) {
    const why = `it holds the data of a node outside the group, and shard ${primary.id} holds the data on record`
    return act({ kind: 'follow', shard: misdirected.id, primary: primary.id, why })
  }
  if (!misdirected.engine.streamed && (primary.engine.keys > 0 || misdirected.engine.keys === 0)) {
    const why = `it came back with an older state of its disk, and shard ${primary.id} serves with the newest one`
    return act({ kind: 'follow', shard: misdirected.id, primary: primary.id, why })
  }
  return {
    kind: 'stuck',
    code: 'diverged',
    why: `shard ${misdirected.id} follows another primary and holds writes that shard ${primary.id} does not have; decide which of them to keep`,
  }
}

/**
 * True if the history of `shard` is a prefix of the primary's, so that it can follow without loss: the same
 * replication id, or the primary's history before its promotion.
 */
export function mayFollow({ engine: mine }: LiveShard, { engine: theirs }: LiveShard): boolean {
  if (mine.role === 'blank') return true
  // The shard never held data: an engine that was never linked reports offset 1.
  if (mine.offset <= 1 && mine.keys === 0) return true
  if (mine.replid === theirs.replid) return mine.offset <= theirs.offset
  return mine.replid === theirs.replid2 && mine.offset <= theirs.secondOffset - 1
}

function planTwoPrimaries(a: LiveShard, b: LiveShard, { slots }: ObservedGroup): Verdict {
  if (slots !== null) {
    const why = `shards ${a.id} and ${b.id} both serve slots of the group until the cluster has told them of each other`
    return { kind: 'wait', shard: a.id, code: 'cluster_view', why }
  }
  const older = mayFollow(a, b) ? a : mayFollow(b, a) ? b : undefined
  if (older !== undefined) {
    const newer = older === a ? b : a
    return act({
      kind: 'follow',
      shard: older.id,
      primary: newer.id,
      why: `both are primaries, and shard ${newer.id} continues the history of shard ${older.id}`,
    })
  }
  return {
    kind: 'stuck',
    code: 'diverged',
    why: `shards ${a.id} and ${b.id} are both primaries with writes of their own; decide which of them to keep`,
    retry: { kind: 'fence', shards: [a.id, b.id], why: 'two primaries must not take more writes' },
  }
}

function planMissingPrimary(seen: ObservedGroup, live: readonly LiveShard[], goal: Goal): Verdict {
  if (seen.shards.length === 0)
    return { kind: 'wait', shard: 0, code: 'shard_starting', why: 'there is no shard yet' }

  const primary = seen.shards.find((shard) => isSilent(shard) && mayServe(shard, seen))
  if (primary !== undefined) return planSilent(primary, 'may be the primary and', seen, live)

  const taken = planTakeBack(seen, live)
  if (taken !== undefined) return taken
  const recorded = seen.shards.find((shard) => shard.id === seen.recordedPrimary)
  if (recorded?.process === 'exited' && recorded.endedCleanly)
    return startFromDisk(recorded, 'it was stopped in order, as the primary')

  const successor = chooseSuccessor(seen, live)
  const other = seen.shards.find((shard) => isAwaited(shard, successor))
  if (other !== undefined) return planSilent(other, whyAwaited(seen, successor), seen, live)
  if (successor !== undefined)
    return (
      planOldValues(successor, recorded) ??
      act({ kind: 'promote', shard: successor.id, why: whyPromote(seen, successor) })
    )
  const fromDisk = planFromDisks(seen)
  if (fromDisk !== undefined) return fromDisk
  return planWithoutCandidate(recorded ?? seen.shards[0], goal)
}

/**
 * True if a follower is waited for before `successor` is promoted: without a successor, each may be the shard
 * with the recorded data; otherwise one that is known to hold more, because it still answers while stopping,
 * or by its disk. One that has just fallen silent is awaited briefly: it may be busy and hold a little more.
 */
function isAwaited(shard: ObservedShard, successor: LiveShard | undefined): boolean {
  const isComing = isSilent(shard) || shard.engine?.loading === true
  if (!isComing || successor === undefined || shard === successor)
    return isSilent(shard) && successor === undefined
  const { replid, offset } = successor.engine
  if (shard.engine?.replid === replid && shard.engine.offset > offset) return true
  if ((reachOf(shard.disk?.snapshot ?? null, successor.engine) ?? 0) > offset) return true
  const { process, engine, silence } = shard
  return engine === null && process !== 'stopping' && (silence == null || silence.forMs < SHORT_SILENCE_MS)
}

/** Since the agent's first unanswered request, which it counts after 1 s. */
const SHORT_SILENCE_MS = 2_000

function whyAwaited({ history }: ObservedGroup, successor: LiveShard | undefined): string {
  if (successor !== undefined)
    return `may hold more than shard ${successor.id} (offset ${successor.engine.offset}) and`
  const known =
    history === null ? 'the history' : `the history up to offset ${history.offset}, which is on record,`
  return `may be the only one that holds ${known} and`
}

/**
 * Handles a silent process that may be the primary, or hold more than all answering shards. While it is busy,
 * or silent for a short time, no other is promoted. A hung one is ended if another shard, or its disk, holds
 * its known history.
 */
function planSilent(
  silent: ObservedShard,
  may: string,
  seen: ObservedGroup,
  live: readonly LiveShard[],
): Verdict {
  const { id, processWhy, silence } = silent
  if (silence == null || !silence.hung) {
    if (silent.failsToStart != null) return describeFailing(silent)
    const why = `shard ${id} ${may} does not answer yet${inBrackets(processWhy)}`
    return { kind: 'wait', shard: id, code: 'shard_silent', why }
  }
  const successor = seen.history === null ? undefined : chooseSuccessor(seen, live)
  if (successor === undefined && !silence.onDisk) {
    const why = `shard ${id} hangs${inBrackets(processWhy)}, and no other shard and no disk holds its data: a person has to decide whether to end its process: see docs/explain/busy-and-hung.md`
    return { kind: 'stuck', code: 'shard_hung', why }
  }
  const holder = successor === undefined ? 'its own disk' : `shard ${successor.id}`
  return act({
    kind: 'end-process',
    shard: id,
    startedAt: silence.startedAt,
    why: `it hangs${inBrackets(processWhy)}, and ${holder} holds its history as far as it is known`,
  })
}

/** No running shard holds the history: the last primary's disk holds the most. */
function planWithoutCandidate(last: ObservedShard | undefined, goal: Goal): Verdict {
  if (last !== undefined && goal.inPlace && last.process === 'failed') return planInPlace(last, goal)
  if (last !== undefined && (last.process === 'exited' || last.process === 'absent')) {
    if (last.failsToStart != null) return describeFailing(last)
    return startFromDisk(last, 'no running shard holds its history')
  }
  const why =
    last === undefined
      ? 'no shard is left'
      : `shard ${last.id}, the last primary, cannot be started: ${last.processWhy}`
  return {
    kind: 'stuck',
    code: last === undefined ? 'data_missing' : 'shard_failing',
    why,
    ...(last?.engine === null && {
      retry: { kind: 'start-shard', shard: last.id, follow: null, why: 'the last primary must come back' },
    }),
  }
}

/** Handles a primary restarted in place that does not start: the former revision reads its files. */
function planInPlace(last: ObservedShard, goal: Goal): Verdict {
  if (revisionOf(last.wanted) === revisionOf(goal) && !goal.undo)
    return {
      kind: 'hopeless',
      code: 'shard_failing',
      why: `shard ${last.id} does not start: ${last.processWhy}`,
    }
  const why = `it did not start, and ${describeGoal(goal)} reads what lies on its disk`
  return act({ kind: 'restart-primary', shard: last.id, runs: goal, why })
}

/**
 * Chooses the replica that lost the least. Candidates ran when the primary died and hold the recorded
 * history, or came back from disk next to one that ran (alone, the primary's disk may hold more:
 * plan-from-disks.ts). Order: no old values (others lack only the last writes), highest offset, not leaving,
 * then most executed commands.
 */
function chooseSuccessor(
  { history, handover, shards, recordedPrimary }: ObservedGroup,
  live: readonly LiveShard[],
): LiveShard | undefined {
  const holders = live.filter(
    ({ engine, process }) =>
      process !== 'stopping' &&
      engine.role === 'replica' &&
      !engine.syncing &&
      !engine.loading &&
      (history === null ||
        (engine.offset >= history.offset &&
          (engine.replid === history.replid || engine.replid2 === history.replid))),
  )
  const ran = holders.filter(({ engine }) => engine.streamed)
  const cameBack = holders.filter(
    ({ engine }) => !engine.streamed && ran.some((other) => other.engine.replid === engine.replid),
  )
  const last = shards.find(({ id }) => id === recordedPrimary)
  const isOld = (shard: LiveShard) => Number(last !== undefined && mayHaveOldValues(shard, last))
  return [...ran, ...cameBack].toSorted(
    (a, b) =>
      isOld(a) - isOld(b) ||
      b.engine.offset - a.engine.offset ||
      Number(a.leaving) - Number(b.leaving) ||
      Number(b.engine.streamed) - Number(a.engine.streamed) ||
      a.engine.errorReplies - b.engine.errorReplies ||
      Number(b.id === handover?.to) - Number(a.id === handover?.to) ||
      Number(b.id === handover?.from) - Number(a.id === handover?.from) ||
      a.id - b.id,
  )[0]
}

function whyPromote({ handover, shards }: ObservedGroup, successor: LiveShard): string {
  const silent = shards.filter(isSilent).map(({ id }) => id)
  const beside = silent.length === 0 ? '' : ` of those that answer (shard ${silent.join(' and ')} does not)`
  return handover === null
    ? `the primary is gone, and shard ${successor.id} holds the most of its history (offset ${successor.engine.offset})${beside}`
    : `the handover from shard ${handover.from} to shard ${handover.to} was interrupted, and no shard is ahead of shard ${successor.id} (offset ${successor.engine.offset})${beside}`
}

/** The sentence stays the same while its agent retries, because each new one would be recorded. */
function describeFailing({ id, failsToStart }: ObservedShard): Verdict {
  const why = `shard ${id}, the last primary, does not start, and is tried repeatedly: ${failsToStart}`
  return { kind: 'stuck', code: 'shard_failing', why }
}

function startFromDisk(shard: ObservedShard, why: string): Verdict {
  return act({ kind: 'start-shard', shard: shard.id, follow: null, why })
}
