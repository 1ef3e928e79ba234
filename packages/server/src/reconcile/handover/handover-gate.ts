import { type EngineConnection, type ReplicationInfo, replicationOf } from '@fairlead/engine'
import type { Obstacle } from '../../core/state/obstacle.ts'
import type { Time } from '../turn/time.ts'

/** A follower further behind would make writes wait. */
const LAG_BYTES = 256 * 1024
/**
 * A flowing stream passes the probe within this time. After a first full sync it stalls for up to a second
 * (measured: 921 to 965 ms): later turns check again, and other groups do not wait.
 */
const FLOWS_WITHIN_MS = 50

/**
 * Checks that the replication stream from `primary` really flows to every follower; "link up" and "online"
 * come up to a second too early. A probe is put into the stream, and each follower's offset must pass it and
 * then be close behind twice. This includes siblings, because one far behind could not resume at the new
 * primary. Returns the obstacle (shards named by `nameOf` their port) or undefined; stops nothing.
 */
export async function passGate(
  primary: EngineConnection,
  followers: readonly EngineConnection[],
  nameOf: (port: number) => string,
  { elapsed, pause }: Time,
  signal: AbortSignal,
): Promise<Obstacle | undefined> {
  const { replicas } = await replicationOf(primary)
  const syncing = replicas.find(({ online }) => !online)
  if (syncing !== undefined) return { code: 'full_sync', why: `${nameOf(syncing.port)} receives a full sync` }

  // WAIT for more replicas than exist makes the primary ask all of them for their offset, in the stream. It
  // changes no data, on every version and in cluster mode (unlike PUBLISH).
  await primary.call('WAIT', 1_000, 1)
  const probe = (await replicationOf(primary)).offset
  const deadline = elapsed() + FLOWS_WITHIN_MS
  let close = 0
  while (close < 2) {
    const ahead = await replicationOf(primary)
    const obstacles = await Promise.all(
      followers.map((follower) => whyNotClose(follower, ahead, probe, nameOf)),
    )
    const obstacle = obstacles.find((one) => one !== undefined)
    close = obstacle === undefined ? close + 1 : 0
    if (obstacle !== undefined && elapsed() > deadline) return obstacle
    await pause(2, signal)
  }
  return undefined
}

async function whyNotClose(
  follower: EngineConnection,
  ahead: ReplicationInfo,
  probe: number,
  nameOf: (port: number) => string,
): Promise<Obstacle | undefined> {
  const { link, replid, offset } = await replicationOf(follower)
  const name = nameOf(follower.address.port)
  const isLinked = link === 'up' && replid === ahead.replid
  const behind = ahead.offset - offset
  if (isLinked && behind >= LAG_BYTES)
    return { code: 'replication', why: `${name} is ${behind} bytes behind; it must be within ${LAG_BYTES}` }
  if (isLinked && offset >= probe) return undefined
  return { code: 'replication', why: `the stream to ${name} does not flow yet` }
}
