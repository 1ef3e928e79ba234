import { type EngineConnection, EngineUnreachable } from './connection.ts'
import { countKeys } from './count-keys.ts'
import type { EffectRunner } from './process/effect.ts'
import { numberOf, pickInfo, type ReplicationInfo, readInfo } from './read-info.ts'
import { replicationOf } from './replication-of.ts'
import { type Elapsing, type EngineBuild, resumeWrites, stopWrites } from './stop-writes.ts'

/** Members of a group whose role moves. */
export interface MovingGroup {
  readonly primary: EngineConnection
  readonly successor: EngineConnection
  readonly others: readonly EngineConnection[]
  /** Build of the primary; decides how its writes are stopped. */
  readonly build: EngineBuild
  /** Commands that the successor had failed to execute when the plan was made: must not have risen. */
  readonly errorReplies: number
}

/** A move outside of cluster mode. */
export interface MoveOrder extends MovingGroup {
  /** After this (`elapsed`) nothing is demoted; stopped writes and held clients stay stopped for longer. */
  readonly until: number
  /** Called right before the order to serve, which cannot be taken back. */
  readonly onGiven: () => void
}

/** Lengths of the sequential parts of a move in ms. */
export interface MoveParts {
  readonly pause: number
  readonly equal: number
  readonly promote: number
}

/** The role has moved: the point in the history, and the waiting times in ms. */
export interface Moved {
  readonly replid: string
  readonly offset: number
  /** Number of keys in both at that point. */
  readonly keys: number
  /** From the pause of the old primary to the promotion of the successor. */
  readonly writeStopMs: number
  readonly parts: MoveParts
}

/** The role has not moved, and the primary still serves. `hopeless`: a retry would not help. */
export interface NotMoved {
  readonly code: 'replication' | 'data_differs' | 'order_late'
  readonly why: string
  readonly hopeless: boolean
}

/** The move exceeded the clients' hold: they are released, and the handover restarts. */
export const tooLate: NotMoved = {
  code: 'order_late',
  why: 'the handover took too long to be finished safely',
  hopeless: false,
}

/**
 * Address for a demoted primary: port 0 refuses at once, and the engine keeps its history. A TLS handshake
 * with the successor would take both of them 2 ms of the write stop; the caller orders that later.
 */
const NOWHERE = ['127.0.0.1', 0] as const

/** Longest wait of writes for the successor to catch up, after a gate that saw it close behind. */
const CATCH_UP_MS = 300

/**
 * Moves the role outside of cluster mode; on failure the primary still serves. The demotion freezes the old
 * primary's offset, which must equal the successor's in the same history; otherwise the demotion is taken
 * back. If this process is killed in between, there is no primary: that is safe, and the server promotes one.
 */
export async function moveRole(
  order: MoveOrder,
  { effect, elapsed }: EffectRunner & Elapsing,
): Promise<Moved | NotMoved> {
  const { primary, successor, build, until } = order
  const parts = measureParts(elapsed, { pause: 0, equal: 0, promote: 0 })
  const first = await parts.lap(
    'pause',
    stopWrites(primary, build, { effect }, () => look(order)),
  )
  const equal = await parts.lap('equal', becomeEqual(order, first, elapsed))
  if ('why' in equal) {
    await resumeWrites(primary, build, { effect })
    return equal
  }
  // The successor cannot be ahead of its primary: once it has the frozen offset, it stays there.
  const demoted = await effect('demote', async () =>
    elapsed() > until
      ? null
      : Promise.all([
          primary.call('REPLICAOF', ...NOWHERE),
          replicationOf(primary),
          replicationOf(successor),
        ]),
  )
  if (demoted === null) return resumeWrites(primary, build, { effect }).then(() => tooLate)
  const [, frozen, seen] = demoted
  const held = isAt(seen, frozen) ? seen : await replicationOf(successor)
  if (!isAt(held, frozen)) {
    await effect('take-back', () => primary.call('REPLICAOF', 'NO', 'ONE'))
    await resumeWrites(primary, build, { effect })
    return notMet(frozen, held)
  }
  await parts.lap(
    'promote',
    effect('promote', () => promote(order)),
  )
  const { replid, offset } = frozen
  return { replid, offset, keys: equal.keys, writeStopMs: writeStopOf(parts.all()), parts: parts.all() }
}

function notMet(frozen: Point, held: Point): NotMoved {
  const why = `the primary stood at ${frozen.replid}:${frozen.offset} and the successor at ${held.replid}:${held.offset}; nothing was moved`
  return { code: 'replication', why, hopeless: false }
}

/** Returns the length of the parts in which no shard takes writes. */
export function writeStopOf({ pause, equal, promote }: MoveParts): number {
  return roundMs(pause + equal + promote)
}

/** Measures sequential parts, which begin with `zero` ms each: a lap begins at the end of the last one. */
export function measureParts<Part extends string>(elapsed: () => number, zero: Record<Part, number>) {
  const parts = { ...zero }
  let from = elapsed()
  return {
    async lap<T>(part: Part, work: Promise<T>): Promise<T> {
      const done = await work
      const at = elapsed()
      parts[part] = roundMs(at - from)
      from = at
      return done
    },
    all: () => ({ ...parts }),
  }
}

/** Checked because nothing is sent over a broken connection: the successor has certainly no order then. */
async function promote({ successor, onGiven }: MoveOrder): Promise<void> {
  if (!successor.usable)
    throw new EngineUnreachable(`the connection to the successor at port ${successor.address.port} is broken`)
  onGiven()
  await successor.call('REPLICAOF', 'NO', 'ONE')
}

/** Offsets of all members, read after writes were stopped. */
export interface Look {
  readonly primary: Position
  readonly successor: Position
  readonly others: readonly Point[]
}
type Point = Pick<ReplicationInfo, 'replid' | 'offset'>
interface Position extends Point {
  /** Read after the offset, like `errorReplies`: at the primary's last offset, nothing changes any more. */
  readonly keys: number
  readonly errorReplies: number
}

/** Asks all members concurrently; the first request to the primary is sent before this returns. */
export async function look({
  primary,
  successor,
  others,
}: Pick<MovingGroup, 'primary' | 'successor' | 'others'>): Promise<Look> {
  const [mine, theirs, ...rest] = await Promise.all([
    positionOf(primary),
    positionOf(successor),
    ...others.map(replicationOf),
  ])
  return { primary: mine, successor: theirs, others: rest }
}

async function positionOf(shard: EngineConnection): Promise<Position> {
  // One section in each command: engines before 7.0 accept no more.
  const [{ replid, offset }, keyspace, stats] = await Promise.all([
    replicationOf(shard),
    shard.info('keyspace'),
    shard.info('stats'),
  ])
  const errorReplies = numberOf(pickInfo(stats, ['unexpected_error_replies']), 'unexpected_error_replies')
  return { replid, offset, keys: countKeys(readInfo(keyspace)), errorReplies }
}

/**
 * Waits with stopped writes until every follower has the primary's offset, so that each can resume from the
 * successor. Then the successor must have executed every command and hold the same number of keys: a
 * difference at equal offsets means a skipped command since the plan was made. Returns the primary's point in
 * the stream.
 */
export async function becomeEqual(
  group: MovingGroup,
  first: Look,
  elapsed: () => number,
): Promise<Position | NotMoved> {
  const deadline = elapsed() + CATCH_UP_MS
  let seen = first
  while (![seen.successor, ...seen.others].every((follower) => isAt(follower, seen.primary))) {
    if (elapsed() > deadline)
      return {
        code: 'replication',
        why: `not every follower caught up within ${CATCH_UP_MS} ms of stopped writes`,
        hopeless: false,
      }
    seen = await look(group)
  }
  const { primary, successor } = seen
  const skipped = successor.errorReplies - group.errorReplies
  if (skipped > 0)
    return {
      code: 'data_differs',
      why: `the successor could not carry out ${skipped} command(s) of its primary`,
      hopeless: true,
    }
  if (primary.keys === successor.keys) return primary
  return {
    code: 'data_differs',
    why: `at the same offset the primary holds ${primary.keys} keys and the successor ${successor.keys}`,
    hopeless: true,
  }
}

function isAt(one: Point, other: Point): boolean {
  return one.offset === other.offset && one.replid === other.replid
}

/** Rounds to two decimals: clocks of two processes do not agree better than that. */
function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100
}
