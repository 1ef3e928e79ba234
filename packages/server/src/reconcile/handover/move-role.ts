import type { Address, Build } from '@fairlead/api'
import {
  type EngineConnection,
  EngineError,
  EngineUnreachable,
  numberOf,
  type ReplicationInfo,
  readInfo,
} from '@fairlead/engine'
import type { HandoverParts } from '../../core/state/action.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { countKeys } from '../look/count-keys.ts'
import type { EffectRunner, PassingTime } from '../turn/ports.ts'
import { ORDER_WITHIN_MS } from '../turn/take-over.ts'
import type { Time } from '../turn/time.ts'
import { replicationOf } from './handover-gate.ts'
import { resumeWrites, stopWrites } from './stop-writes.ts'

/** Members of a group whose role moves. */
export interface MovingGroup {
  readonly primary: EngineConnection
  readonly successor: EngineConnection
  readonly others: readonly EngineConnection[]
  /** Address at which the primary will follow the successor; unused in cluster mode. */
  readonly successorAt: Address
  /** Build of the primary; decides how its writes are stopped. */
  readonly build: Build
  /** Commands that the successor had failed to execute when the plan was made: must not have risen. */
  readonly errorReplies: number
  /**
   * Deadline (Time.elapsed) of an order that cannot be taken back; stopped writes and held clients stay
   * stopped for longer. Null: no client is held, and it counts from right before the pause.
   */
  readonly until: number | null
  readonly orders: {
    /** Called right before the order to serve. */
    readonly give: () => void
    /** Called if it has refused. */
    readonly refused: () => void
    /** For a successor in cluster mode whose epoch is not above its primary's: lets it raise its epoch. */
    readonly raiseEpoch: () => Promise<void>
  }
  /** Called once, when the successor serves: moves the endpoint's clients. Returns the hold in ms. */
  readonly takeClients: () => Promise<number | null>
}

/** Ports for moving a role, besides the group's connections. */
export type MovingPorts = EffectRunner & PassingTime

/** The role has moved: the point in the history, and the waiting times in ms. */
export interface Moved {
  readonly replid: string
  readonly offset: number
  /** Number of keys in both at that point. */
  readonly keys: number
  /** From the pause of the old primary to the promotion of the successor. */
  readonly writeStopMs: number
  /** Wait of the endpoint's clients from before the pause until they were served; null without clients. */
  readonly heldMs: number | null
  /** Length of each part in ms. */
  readonly parts: Omit<HandoverParts, 'hold'>
  /** Start of the first part (Time.elapsed). */
  readonly began: number
}

/** The role has not moved, and the primary still serves. `hopeless`: a retry would not help. */
export interface NotMoved extends Obstacle {
  readonly hopeless: boolean
  /** Makes the next attempt succeed. Call it after clients are released. */
  readonly remedy?: () => Promise<void>
}

/** The move exceeded the clients' hold: they are released, and the handover restarts. */
export const tooLate: NotMoved = {
  code: 'order_late',
  why: 'the handover took too long to be finished safely',
  hopeless: false,
}

/** Longest wait of writes for the successor to catch up, after a gate that saw it close behind. */
const CATCH_UP_MS = 300

/**
 * Moves the role outside of cluster mode; on failure the primary still serves, and `why` names the
 * obstacle. The demotion freezes the old primary's offset, which must equal the successor's in the same
 * history; otherwise the demotion is taken back. If the server is killed in between, there is no primary:
 * that is safe, and the next turn promotes one.
 */
export async function moveRole(group: MovingGroup, ports: MovingPorts): Promise<Moved | NotMoved> {
  const { effect, time } = ports
  const { primary, successor, build } = group
  const [began, parts] = [time.elapsed(), measureParts(time)]
  const until = untilOf(group, began)
  const first = await parts.lap(
    'pause',
    stopWrites(primary, build, ports, () => look(group)),
  )
  const equal = await parts.lap('equal', becomeEqual(group, first, time))
  if ('why' in equal) {
    await resumeWrites(primary, build, ports)
    return equal
  }
  // The successor cannot be ahead of its primary: once it has the frozen offset, it stays there.
  const demoted = await effect('demote', async () =>
    time.elapsed() > until
      ? null
      : Promise.all([
          primary.call('REPLICAOF', group.successorAt.host, group.successorAt.port),
          replicationOf(primary),
          replicationOf(successor),
        ]),
  )
  if (demoted === null) return resumeWrites(primary, build, ports).then(() => tooLate)
  const [, frozen, seen] = demoted
  const held = isAt(seen, frozen) ? seen : await replicationOf(successor)
  if (!isAt(held, frozen)) {
    await effect('take-back', () => primary.call('REPLICAOF', 'NO', 'ONE'))
    await resumeWrites(primary, build, ports)
    return notMet(frozen, held)
  }
  await parts.lap(
    'promote',
    effect('promote', () => promote(group)),
  )
  const writeStopMs = parts.writeStopMs()
  const heldMs = await parts.lap('release', group.takeClients())
  return { ...pointOf(frozen), keys: equal.keys, writeStopMs, heldMs, parts: parts.all(), began }
}

/**
 * Returns the deadline. `began`: right before the order to pause; the pause begins later, and lasts longer
 * than the order is valid.
 */
export function untilOf({ until }: Pick<MovingGroup, 'until'>, began: number): number {
  return until ?? began + ORDER_WITHIN_MS
}

function notMet(frozen: Point, held: Point): NotMoved {
  const why = `the primary stood at ${frozen.replid}:${frozen.offset} and the successor at ${held.replid}:${held.offset}; nothing was moved`
  return { code: 'replication', why, hopeless: false }
}

function pointOf({ replid, offset }: Point): Point {
  return { replid, offset }
}

/** Measures the sequential parts of a move: each lap begins at the end of the last one. */
export function measureParts(time: Pick<Time, 'elapsed'>) {
  const parts = { pause: 0, equal: 0, promote: 0, release: 0 }
  let from = time.elapsed()
  return {
    async lap<T>(part: keyof Moved['parts'], work: Promise<T>): Promise<T> {
      const done = await work
      const at = time.elapsed()
      parts[part] = roundMs(at - from)
      from = at
      return done
    },
    /** Parts without writes at any shard. */
    writeStopMs: () => roundMs(parts.pause + parts.equal + parts.promote),
    all: (): Moved['parts'] => ({ ...parts }),
  }
}

/** Checked because nothing is sent over a broken connection: the successor has certainly no order then. */
async function promote({ successor, orders }: MovingGroup): Promise<void> {
  if (!successor.usable)
    throw new EngineUnreachable(`the connection to the successor at port ${successor.address.port} is broken`)
  orders.give()
  try {
    await successor.call('REPLICAOF', 'NO', 'ONE')
  } catch (cause) {
    if (cause instanceof EngineError) orders.refused()
    throw cause
  }
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
export async function look({ primary, successor, others }: MovingGroup): Promise<Look> {
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
  const errorReplies = numberOf(readInfo(stats), 'unexpected_error_replies')
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
  { elapsed }: Pick<Time, 'elapsed'>,
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
