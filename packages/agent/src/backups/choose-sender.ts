import { setTimeout as delay } from 'node:timers/promises'
import { connectEngine, type ReplicationInfo, replicationOf } from '@fairlead/engine'
import type { EngineTarget } from '../engine/ask-engine.ts'

/** Usually a replica lags by milliseconds. */
const CATCHES_UP_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 20
const BUSY_MS = 5_000

/** A shard that can send its data. */
export interface Sender {
  readonly shard: string
  readonly target: EngineTarget
}

/**
 * Returns the first replica that has all that the primary has acknowledged at the call, because its fork
 * stops no client; otherwise the primary. Throws if the primary does not answer as one.
 */
export async function chooseSender(
  primary: Sender,
  replicas: readonly Sender[],
  signal: AbortSignal,
): Promise<Sender> {
  const from = await look(primary.target)
  if (from.role !== 'primary') throw new Error(`shard ${primary.shard} is not the primary any more`)
  for (const replica of replicas) if (await catchesUp(replica.target, from, signal)) return replica
  return primary
}

async function catchesUp(
  replica: EngineTarget,
  primary: Pick<ReplicationInfo, 'replid' | 'offset'>,
  signal: AbortSignal,
): Promise<boolean> {
  for (const until = performance.now() + CATCHES_UP_WITHIN_MS; performance.now() < until; ) {
    signal.throwIfAborted()
    const seen = await look(replica).catch(() => undefined)
    if (seen === undefined || seen.link !== 'up' || seen.syncing || seen.replid !== primary.replid)
      return false
    if (seen.offset >= primary.offset) return true
    await delay(LOOK_EVERY_MS, undefined, { signal })
  }
  return false
}

async function look({ address, login }: EngineTarget): Promise<ReplicationInfo> {
  using engine = await connectEngine({ address, login, connectTimeoutMs: BUSY_MS, commandTimeoutMs: BUSY_MS })
  return await replicationOf(engine)
}
