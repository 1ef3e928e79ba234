import type { Build } from '@fairlead/api'
import { type EngineConnection, numberOf, readInfo } from '@fairlead/engine'
import type { Deps } from './deps.ts'
import { replicationOf } from './handover-gate.ts'
import { letWritesGo, stopWrites } from './stop-writes.ts'

/** The members of a group whose role moves. */
export interface MovingGroup {
  readonly primary: EngineConnection
  readonly heir: EngineConnection
  readonly others: readonly EngineConnection[]
  /** What the primary runs: how its writes are stopped depends on it. */
  readonly build: Build
  /** Commands of its primary that the heir could not carry out, as the plan saw it: none may have come since. */
  readonly errorReplies: number
}

/** The role has moved: at which point of which history, and how long writes stood still. */
export interface Moved {
  readonly replid: string
  readonly offset: number
  /** Keys that both held at that point. */
  readonly keys: number
  readonly writeStopMs: number
}

/** It has not, and the primary is what it was. `hopeless`: trying again would not help. */
export interface NotMoved {
  readonly why: string
  readonly hopeless: boolean
}

/** How long writes may wait for the heir to catch up, after a gate that saw it close behind. */
const CATCH_UP_MS = 300

/**
 * Outside of cluster mode. Either the role has moved, or the primary is what it was and `why` says what was in the way.
 *
 * After the demotion the old primary's offset is frozen; it must be the heir's, in the same history. If not, it is taken
 * back. Killed in between, there is no primary: safe, and the planner promotes one.
 */
export async function moveRole(group: MovingGroup, deps: Deps): Promise<Moved | NotMoved> {
  const { effect } = deps
  const { primary, heir, build } = group
  const began = performance.now()
  await stopWrites(primary, build, deps)
  const keys = await becomeEqual(group)
  if (typeof keys !== 'number') {
    await letWritesGo(primary, build, deps)
    return keys
  }
  await effect('demote', () => primary.call('REPLICAOF', heir.address.host, heir.address.port))

  const [frozen, held] = await Promise.all([replicationOf(primary), replicationOf(heir)])
  if (frozen.offset !== held.offset || frozen.replid !== held.replid) {
    await effect('take-back', () => primary.call('REPLICAOF', 'NO', 'ONE'))
    await letWritesGo(primary, build, deps)
    return {
      why: `the primary stood at ${frozen.replid}:${frozen.offset} and the heir at ${held.replid}:${held.offset}; nothing was moved`,
      hopeless: false,
    }
  }
  await effect('promote', () => heir.call('REPLICAOF', 'NO', 'ONE'))
  return { replid: frozen.replid, offset: frozen.offset, keys, writeStopMs: msSince(began) }
}

/**
 * With writes stopped, waits until every follower is where the primary is: whoever stands where the heir stands can
 * resume at it. Then the heir must have carried out everything, and hold as many keys as the primary, which is returned:
 * at equal offsets anything else means that it skipped something since the plan looked.
 */
export async function becomeEqual({
  primary,
  heir,
  others,
  errorReplies,
}: MovingGroup): Promise<number | NotMoved> {
  if (!(await areEqualSoon([primary, heir, ...others])))
    return { why: `not every follower caught up within ${CATCH_UP_MS} ms of stopped writes`, hopeless: false }
  const [stats, ...sizes] = await Promise.all([
    heir.info('stats'),
    ...[primary, heir].map(async (shard) => Number(await shard.call('DBSIZE'))),
  ])
  const skipped = numberOf(readInfo(stats), 'unexpected_error_replies') - errorReplies
  if (skipped > 0)
    return { why: `the heir could not carry out ${skipped} command(s) of its primary`, hopeless: true }
  const [mine, theirs] = sizes
  if (mine === theirs && mine !== undefined) return mine
  return { why: `at the same offset the primary holds ${mine} keys and the heir ${theirs}`, hopeless: true }
}

async function areEqualSoon(members: readonly EngineConnection[]): Promise<boolean> {
  const deadline = performance.now() + CATCH_UP_MS
  do {
    const [ahead, ...behind] = await Promise.all(members.map(replicationOf))
    if (behind.every(({ offset, replid }) => offset === ahead?.offset && replid === ahead.replid)) return true
  } while (performance.now() < deadline)
  return false
}

/** Milliseconds with two digits: the clock is not better than that across two processes. */
export function msSince(began: number): number {
  return Math.round((performance.now() - began) * 100) / 100
}
