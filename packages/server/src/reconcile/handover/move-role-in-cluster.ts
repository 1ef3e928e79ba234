import type { EngineConnection } from '@fairlead/engine'
import { equalEpochs } from '../turn/outcome.ts'
import type { TakingOver } from '../turn/ports.ts'
import { type ClockReading, readClock } from '../turn/take-over.ts'
import type { Time } from '../turn/time.ts'
import { replicationOf } from './handover-gate.ts'
import {
  becomeEqual,
  look,
  type Moved,
  type MovingGroup,
  type MovingPorts,
  measureParts,
  type NotMoved,
  tooLate,
  untilOf,
} from './move-role.ts'
import { type Still, standStill } from './stand-still.ts'
import { letWritesGo, stopWrites } from './stop-writes.ts'

/** How long the old primary may take to learn of the takeover: 4 to 20 ms measured. It stays paused meanwhile. */
const HEARS_WITHIN_MS = 2_000
/** Pings of a primary are part of its stream: a ping between the last look and the takeover would put the old primary's offset ahead. */
const PING_SETTING = 'repl-ping-replica-period'
const NEVER_S = 3_600

/**
 * In cluster mode an engine cannot be demoted by command. The successor takes over at equal offsets (`CLUSTER FAILOVER
 * TAKEOVER`: one message, no vote, and none of a vote's delays; docs/explain/measurements/handover.md, finding 3), and the old primary,
 * paused until then, steps down when it learns of the takeover. It learns of it also if the server is killed in between.
 *
 * The gate before this has checked that the successor knows the whole slot map: otherwise it would take over only what it
 * believes its primary to own, and the rest of the data would be deleted (finding 4).
 *
 * Nothing demotes the old primary first, so two things keep it from taking writes that would be lost: the order to take over
 * carries an end that lies within the pause, and the pause goes on for longer than a stalled primary is left alone (decision 18).
 * And a successor takes over only with an epoch above that of its primary: then the old primary cannot keep its slots.
 */
export async function moveRoleInCluster(
  group: MovingGroup,
  ports: MovingPorts & TakingOver,
): Promise<Moved | NotMoved> {
  const { primary, successor, build } = group
  const [period, clock] = await Promise.all([readPingPeriod(primary), readClock(successor, ports.time)])
  const [began, parts] = [ports.time.elapsed(), measureParts(ports.time)]
  try {
    const first = await parts.lap(
      'pause',
      stopWrites(primary, build, ports, () => lookWithoutPings(group)),
    )
    const equal = await parts.lap('equal', becomeEqual(group, first, ports.time))
    if ('why' in equal) {
      await letWritesGo(primary, build, ports)
      return equal
    }
    const still = await standStill({ ...group, until: untilOf(group, began) }, equal.offset, ports)
    if ('why' in still) {
      await letWritesGo(primary, build, ports)
      return still
    }
    const refused = await parts.lap('promote', orderTakeover(group, { ...still, clock }, ports))
    if (refused !== undefined) return refused
    const writeStopMs = parts.writeStopMs()
    // Clients of the endpoint need not wait for the old primary: none of them goes there any more.
    const [heldMs] = await Promise.all([
      parts.lap('release', group.takeClients()),
      // From here on it redirects clients that connect to it directly, also those that it held.
      untilSteppedDown(primary, ports.time).then(() => letWritesGo(primary, build, ports)),
    ])
    const { replid, keys } = equal
    return { replid, offset: still.offset, keys, writeStopMs, heldMs, parts: parts.all(), began }
  } finally {
    await primary.call('CONFIG', 'SET', PING_SETTING, period)
  }
}

/** Undefined when the successor has taken over. Otherwise writes go on at the old primary. */
async function orderTakeover(
  { primary, successor, build, orders }: MovingGroup,
  { clock, until, epoch }: Still & { readonly clock: ClockReading },
  ports: MovingPorts & TakingOver,
): Promise<NotMoved | undefined> {
  orders.give()
  const answer = await ports.takeovers.order(successor, { clock, until, above: epoch }, ports.effect)
  if (answer === 'taken') return undefined
  orders.refused()
  await letWritesGo(primary, build, ports)
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

/** After an interruption the former ping period is not known, so the engine's default is set. */
export async function resumePings(shard: EngineConnection): Promise<void> {
  const period = await readPingPeriod(shard)
  if (period === String(NEVER_S)) await shard.call('CONFIG', 'SET', PING_SETTING, 10)
}

async function readPingPeriod(primary: EngineConnection): Promise<string> {
  const reply = await primary.call('CONFIG', 'GET', PING_SETTING)
  return Array.isArray(reply) ? String(reply[1]) : '10'
}

/** Thrown if the old primary does not step down in time: the next turn plans from what it observes, and the pause ends by itself. */
async function untilSteppedDown(primary: EngineConnection, { elapsed, pause }: Time): Promise<void> {
  const deadline = elapsed() + HEARS_WITHIN_MS
  while ((await replicationOf(primary)).role !== 'replica') {
    if (elapsed() > deadline)
      throw new Error(`the old primary at port ${primary.address.port} has not stepped down`)
    await pause(1)
  }
}
