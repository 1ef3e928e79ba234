import {
  type EffectRunner,
  type EngineConnection,
  keepWritesStopped,
  type MovingGroup,
  type NotMoved,
  numberOf,
  pauseAll,
  readInfo,
  replicationOf,
  tooLate,
} from '@fairlead/engine'
import type { PassingTime } from '../turn/ports.ts'

/** Stopped writes and clients stay stopped at least this long after the takeover order has expired. */
const MARGIN_MS = 200
const LOOK_AGAIN_MS = 1

/** Offset at which a primary has stopped, its config epoch, and the takeover deadline (Time.elapsed). */
export interface Still {
  readonly offset: number
  readonly epoch: number
  readonly until: number
}

/**
 * Stops the primary right before a takeover in cluster mode, where no command demotes it: it takes no write
 * for longer than the order is valid. `offset`: of the primary and all followers, with writes stopped. Redis
 * before 6.2 does not refuse writes of scripts (measured: 6.0.16), so all its clients, including Fairlead,
 * wait while the order is valid, and scripts' writes until then must have arrived.
 */
export async function standStill(
  group: MovingGroup & { readonly until: number },
  offset: number,
  ports: EffectRunner & PassingTime,
): Promise<Still | NotMoved> {
  const { primary, successor, others, build, until } = group
  // In one round trip. The epoch is read from the primary: it may have raised it without its successor
  // knowing.
  const [epoch] = await Promise.all([epochOf(primary), keepWritesStopped(primary, build, ports)])
  const paused = await pauseAll(primary, build, { effect: ports.effect, elapsed: ports.time.elapsed })
  // Checked after the answer: an answer in time proves that the short pause had not ended before the long one
  // began.
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
