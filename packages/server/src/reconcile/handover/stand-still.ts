import { type EngineConnection, numberOf, readInfo } from '@fairlead/engine'
import { replicationOf } from './handover-gate.ts'
import { type MovingGroup, type MovingPorts, type NotMoved, tooLate } from './move-role.ts'
import { keepWritesStopped, pauseAll } from './stop-writes.ts'

/** What was stopped for the handover stays stopped for at least this time after the order to take over has expired. */
const MARGIN_MS = 200
const LOOK_AGAIN_MS = 1

/** The offset at which a primary has stopped, its config epoch, and until when (Time.elapsed) an order to take over may be carried out. */
export interface Still {
  readonly offset: number
  readonly epoch: number
  readonly until: number
}

/**
 * Right before a successor takes over in cluster mode, where nothing demotes the primary first: from here on the primary takes no write, for
 * longer than the order is valid. `offset` is where the primary and all its followers were seen, with writes stopped.
 *
 * A redis before 6.2 is told to refuse writes, but does not refuse writes of scripts (measured: 6.0.16). So all its clients, Fairlead
 * included, wait for the short time in which the order is valid; and the writes of scripts until then must have arrived.
 */
export async function standStill(
  group: MovingGroup & { readonly until: number },
  offset: number,
  ports: MovingPorts,
): Promise<Still | NotMoved> {
  const { primary, successor, others, build, until } = group
  // In one round trip. The epoch is asked of the primary itself: it may have raised it, and its successor not have heard of it.
  const [epoch] = await Promise.all([epochOf(primary), keepWritesStopped(primary, build, ports)])
  const paused = await pauseAll(primary, build, ports)
  // Asked only now: an answer in time proves that the short pause had not ended before the long one began.
  if (ports.time.elapsed() > until) return tooLate
  if (paused === null) return { offset, epoch, until }
  const ends = Math.min(until, paused.endsAt - MARGIN_MS)
  const followers = [successor, ...others]
  while (ports.time.elapsed() < ends) {
    const seen = await Promise.all(followers.map(replicationOf))
    if (seen.every((follower) => follower.offset === paused.offset))
      return { offset: paused.offset, epoch, until: ends }
    await ports.time.pause(LOOK_AGAIN_MS)
  }
  return { code: 'replication', why: 'the writes of scripts had not arrived in time', hopeless: false }
}

async function epochOf(primary: EngineConnection): Promise<number> {
  return numberOf(readInfo(String(await primary.call('CLUSTER', 'INFO'))), 'cluster_my_epoch')
}
