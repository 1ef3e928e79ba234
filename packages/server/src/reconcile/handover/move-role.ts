import type { Address, Build } from '@fairlead/api'
import {
  type EngineConnection,
  EngineError,
  EngineUnreachable,
  numberOf,
  type ReplicationInfo,
  readInfo,
} from '@fairlead/engine'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { countKeys } from '../look/count-keys.ts'
import type { EffectRunner } from '../turn/ports.ts'
import { replicationOf } from './handover-gate.ts'
import { letWritesGo, stopWrites } from './stop-writes.ts'

/** The members of a group whose role moves. */
export interface MovingGroup {
  readonly primary: EngineConnection
  readonly heir: EngineConnection
  readonly others: readonly EngineConnection[]
  /** Where the primary finds the heir to follow it; not used in cluster mode. */
  readonly heirAt: Address
  /** What the primary runs: how its writes are stopped depends on it. */
  readonly build: Build
  /** Commands of its primary that the heir could not carry out, as the plan saw it: none may have come since. */
  readonly errorReplies: number
  /**
   * By performance.now: an order that cannot be taken back is not given later. Whatever was stopped for the handover, writes or
   * clients of the endpoint, stays so for longer.
   */
  readonly until: number
  /** Called right before the heir is told to serve, and when it has answered that it does not. */
  readonly orders: { readonly give: () => void; readonly refused: () => void }
  /** Called once, when the heir serves: takes the clients of the endpoint there. How long they were held. */
  readonly takeClients: () => Promise<number | null>
}

/** The role has moved: at which point of which history, and for how long what stood still, in milliseconds. */
export interface Moved {
  readonly replid: string
  readonly offset: number
  /** Keys that both held at that point. */
  readonly keys: number
  /** From the pause of the old primary to the promotion of the heir: nobody took writes. */
  readonly writeStopMs: number
  /** How long clients of the endpoint waited: from before the pause until they were served by the heir; null without any. */
  readonly heldMs: number | null
}

/** It has not, and the primary is what it was. `hopeless`: trying again would not help. */
export interface NotMoved extends Obstacle {
  readonly hopeless: boolean
}

/** What was to take milliseconds has taken so long that clients may not be held any longer: they are let go, and it begins anew. */
export const tooLate: NotMoved = {
  ...{ code: 'order_late', why: 'the handover took too long to be finished safely', hopeless: false },
}

/** How long writes may wait for the heir to catch up, after a gate that saw it close behind. */
const CATCH_UP_MS = 300

/**
 * Outside of cluster mode. Either the role has moved, or the primary is what it was and `why` says what was in the way.
 *
 * After the demotion the old primary's offset is frozen; it must be the heir's, in the same history. If not, it is taken
 * back. Killed in between, there is no primary: safe, and the planner promotes one.
 */
export async function moveRole(group: MovingGroup, ports: EffectRunner): Promise<Moved | NotMoved> {
  const { effect } = ports
  const { primary, heir, build } = group
  const began = performance.now()
  const equal = await becomeEqual(group, await stopWrites(primary, build, ports, () => look(group)))
  if ('why' in equal) {
    await letWritesGo(primary, build, ports)
    return equal
  }
  // The heir cannot be ahead of its primary: once it is seen there, it stays there.
  const demoted = await effect('demote', async () =>
    performance.now() > group.until
      ? null
      : Promise.all([
          primary.call('REPLICAOF', group.heirAt.host, group.heirAt.port),
          replicationOf(primary),
          replicationOf(heir),
        ]),
  )
  if (demoted === null) {
    await letWritesGo(primary, build, ports)
    return tooLate
  }
  const [, frozen, seen] = demoted
  const held = isAt(seen, frozen) ? seen : await replicationOf(heir)
  if (!isAt(held, frozen)) {
    await effect('take-back', () => primary.call('REPLICAOF', 'NO', 'ONE'))
    await letWritesGo(primary, build, ports)
    return {
      code: 'replication',
      why: `the primary stood at ${frozen.replid}:${frozen.offset} and the heir at ${held.replid}:${held.offset}; nothing was moved`,
      hopeless: false,
    }
  }
  await effect('promote', () => promote(group))
  const writeStopMs = msSince(began)
  const { replid, offset } = frozen
  return { replid, offset, keys: equal.keys, writeStopMs, heldMs: await group.takeClients() }
}

/** Nothing is sent over a connection that is broken: then the heir has certainly not heard of it. */
async function promote({ heir, orders }: MovingGroup): Promise<void> {
  if (!heir.usable)
    throw new EngineUnreachable(`the connection to the heir at port ${heir.address.port} is broken`)
  orders.give()
  try {
    await heir.call('REPLICAOF', 'NO', 'ONE')
  } catch (cause) {
    if (cause instanceof EngineError) orders.refused()
    throw cause
  }
}

/** Where everybody is, each at some moment after writes were stopped. */
export interface Look {
  readonly primary: Standing
  readonly heir: Standing
  readonly others: readonly Point[]
}
type Point = Pick<ReplicationInfo, 'replid' | 'offset'>
interface Standing extends Point {
  /** Read after the offset, like `errorReplies`: at the primary's last offset nothing changes any more. */
  readonly keys: number
  readonly errorReplies: number
}

/** Asks everybody at once; the first question to the primary is sent before this returns. */
export async function look({ primary, heir, others }: MovingGroup): Promise<Look> {
  const [mine, theirs, ...rest] = await Promise.all([
    standingOf(primary),
    standingOf(heir),
    ...others.map(replicationOf),
  ])
  return { primary: mine, heir: theirs, others: rest }
}

async function standingOf(shard: EngineConnection): Promise<Standing> {
  // One section each: engines before 7.0 take no more.
  const [{ replid, offset }, keyspace, stats] = await Promise.all([
    replicationOf(shard),
    shard.info('keyspace'),
    shard.info('stats'),
  ])
  const errorReplies = numberOf(readInfo(stats), 'unexpected_error_replies')
  return { replid, offset, keys: countKeys(readInfo(keyspace)), errorReplies }
}

/**
 * With writes stopped, waits until every follower is where the primary is: whoever stands where the heir stands can
 * resume at it. Then the heir must have carried out everything, and hold as many keys as the primary: at equal offsets
 * anything else means that it skipped something since the plan looked. Returns where the primary stands.
 */
export async function becomeEqual(group: MovingGroup, first: Look): Promise<Standing | NotMoved> {
  const deadline = performance.now() + CATCH_UP_MS
  let seen = first
  while (![seen.heir, ...seen.others].every((follower) => isAt(follower, seen.primary))) {
    if (performance.now() > deadline)
      return {
        code: 'replication',
        why: `not every follower caught up within ${CATCH_UP_MS} ms of stopped writes`,
        hopeless: false,
      }
    seen = await look(group)
  }
  const { primary, heir } = seen
  const skipped = heir.errorReplies - group.errorReplies
  if (skipped > 0)
    return {
      code: 'data_differs',
      why: `the heir could not carry out ${skipped} command(s) of its primary`,
      hopeless: true,
    }
  if (primary.keys === heir.keys) return primary
  return {
    code: 'data_differs',
    why: `at the same offset the primary holds ${primary.keys} keys and the heir ${heir.keys}`,
    hopeless: true,
  }
}

function isAt(one: Point, other: Point): boolean {
  return one.offset === other.offset && one.replid === other.replid
}

/** Milliseconds with two digits: the clock is not better than that across two processes. */
export function msSince(began: number): number {
  return Math.round((performance.now() - began) * 100) / 100
}
