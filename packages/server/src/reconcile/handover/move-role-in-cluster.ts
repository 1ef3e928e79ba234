import {
  becomeEqual,
  type EffectRunner,
  type EngineConnection,
  look,
  type MovingGroup,
  measureParts,
  replicationOf,
  resumeWrites,
  stopWrites,
  tooLate,
  writeStopOf,
} from '@fairlead/engine'
import { equalEpochs } from '../turn/outcome.ts'
import type { PassingTime, TakingOver } from '../turn/ports.ts'
import { type ClockReading, readClock } from '../turn/take-over.ts'
import type { Time } from '../turn/time.ts'
import { type MovedWithClients, type MoveRefused, type RoleMove, untilOf } from './move-role.ts'
import { type Still, standStill } from './stand-still.ts'

type Move = MovingGroup & RoleMove
type MovingPorts = EffectRunner & PassingTime & TakingOver

/** Longest time for the old primary to learn of the takeover: 4 to 20 ms measured. It stays paused. */
const HEARS_WITHIN_MS = 2_000
/** Pings are part of the stream: one before the takeover would put the old primary's offset ahead. */
const PING_SETTING = 'repl-ping-replica-period'
const NEVER_S = 3_600

/**
 * Moves the role in cluster mode, where no command demotes an engine.
 * 1. The gate has checked that the successor knows the whole slot map: otherwise it would take over only the
 *    slots that it believes its primary to own, and the other data would be deleted
 *    (docs/explain/measurements/handover.md, finding 4).
 * 2. Writes stop, and offsets become equal.
 * 3. The successor takes over (`CLUSTER FAILOVER TAKEOVER`: one message, no vote and none of its delays;
 *    finding 3). Its epoch must be above its primary's, so that the old primary cannot keep its slots.
 * 4. The old primary stays paused until it learns of the takeover and steps down, even if the server is
 *    killed in between.
 * 5. It must take no writes that would be lost: the order expires within the pause, and the pause lasts
 *    longer than a stalled primary is left alone (decision 18).
 */
export async function moveRoleInCluster(
  group: Move,
  ports: MovingPorts,
): Promise<MovedWithClients | MoveRefused> {
  const { primary, successor, build } = group
  const [period, clock] = await Promise.all([readPingPeriod(primary), readClock(successor, ports.time)])
  const { elapsed } = ports.time
  const [began, parts] = [elapsed(), measureParts(elapsed, { pause: 0, equal: 0, promote: 0, release: 0 })]
  try {
    const first = await parts.lap(
      'pause',
      stopWrites(primary, build, ports, () => lookWithoutPings(group)),
    )
    const equal = await parts.lap('equal', becomeEqual(group, first, elapsed))
    if ('why' in equal) {
      await resumeWrites(primary, build, ports)
      return equal
    }
    const still = await standStill({ ...group, until: untilOf(group, began) }, equal.offset, ports)
    if ('why' in still) {
      await resumeWrites(primary, build, ports)
      return still
    }
    const refused = await parts.lap('promote', orderTakeover(group, { ...still, clock }, ports))
    if (refused !== undefined) return refused
    const writeStopMs = writeStopOf(parts.all())
    // Clients of the endpoint need not wait for the old primary: none of them goes there any more.
    const [heldMs] = await Promise.all([
      parts.lap('release', group.takeClients()),
      // From here on it redirects clients that connect to it directly, including those that it held.
      untilSteppedDown(primary, ports.time).then(() => resumeWrites(primary, build, ports)),
    ])
    const { replid, keys } = equal
    return { replid, offset: still.offset, keys, writeStopMs, heldMs, parts: parts.all(), began }
  } finally {
    await primary.call('CONFIG', 'SET', PING_SETTING, period)
  }
}

/** Returns undefined if the successor has taken over. Otherwise writes continue at the old primary. */
async function orderTakeover(
  { primary, successor, build, orders }: Move,
  { clock, until, epoch }: Still & { readonly clock: ClockReading },
  ports: MovingPorts,
): Promise<MoveRefused | undefined> {
  orders.give()
  const answer = await ports.takeovers.order(successor, { clock, until, above: epoch }, ports.effect)
  if (answer === 'taken') return undefined
  orders.refused()
  await resumeWrites(primary, build, ports)
  if (answer === 'late') return tooLate
  return { ...equalEpochs(successor.address.port), hopeless: false, remedy: orders.raiseEpoch }
}

async function lookWithoutPings(group: MovingGroup) {
  const [, seen] = await Promise.all([
    group.primary.call('CONFIG', 'SET', PING_SETTING, NEVER_S),
    look(group),
  ])
  return seen
}

/** Restores pings after an interruption: the former period is unknown, so the engine's default is set. */
export async function resumePings(shard: EngineConnection): Promise<void> {
  const period = await readPingPeriod(shard)
  if (period === String(NEVER_S)) await shard.call('CONFIG', 'SET', PING_SETTING, 10)
}

async function readPingPeriod(primary: EngineConnection): Promise<string> {
  const reply = await primary.call('CONFIG', 'GET', PING_SETTING)
  return Array.isArray(reply) ? String(reply[1]) : '10'
}

/** Throws if the old primary does not step down in time: the next turn replans, and the pause times out. */
async function untilSteppedDown(primary: EngineConnection, { elapsed, pause }: Time): Promise<void> {
  const deadline = elapsed() + HEARS_WITHIN_MS
  while ((await replicationOf(primary)).role !== 'replica') {
    if (elapsed() > deadline)
      throw new Error(`the old primary at port ${primary.address.port} has not stepped down`)
    await pause(1)
  }
}
