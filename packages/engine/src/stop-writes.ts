import type { EngineConnection } from './connection.ts'
import type { EffectRunner } from './process/effect.ts'
import { compareVersions } from './version.ts'

/** Flavour ("redis", "valkey") and version ("7.0.15") of an engine's program. */
export interface EngineBuild {
  readonly flavour: string
  readonly version: string
}

/** Measures durations: monotonic ms since some time before this process began its work. */
export interface Elapsing {
  readonly elapsed: () => number
}

/** Timeout of the pause, also if the server dies. It is needed for a few milliseconds. */
const PAUSE_MS = 2_000
/** Longer than the agent leaves a silent primary alone (2 minutes): if it wakes up, it is still paused. */
const OUTLASTS_MS = 150_000
/** Pause of all clients of an old primary at a move in cluster mode; the order is valid for most of it. */
const PAUSE_ALL_MS = 600
/** Length of a `fence`. Each turn of a stuck database renews it; without turns it ends. */
const FENCE_MS = 30_000
/** More replicas than any database has: the engine then refuses writes. */
const NEVER_REPLICAS = 1_000
const REFUSAL = 'min-replicas-to-write'

/**
 * Stops writes at a primary, and pipelines `look` behind the order on the same connection: the primary's
 * state that it sees is final. Since Redis 6.2 writes wait (CLIENT PAUSE … WRITE). Earlier a pause would also
 * hold Fairlead's commands, so writes are refused (NOREPLICAS) until `resumeWrites`.
 */
export async function stopWrites<T>(
  primary: EngineConnection,
  build: EngineBuild,
  { effect }: EffectRunner,
  look: () => Promise<T>,
): Promise<T> {
  const [, seen] = await effect('pause', () => {
    const stopped = canPauseWrites(build)
      ? primary.call('CLIENT', 'PAUSE', PAUSE_MS, 'WRITE')
      : primary.call('CONFIG', 'SET', REFUSAL, NEVER_REPLICAS)
    return Promise.all([stopped, look()])
  })
  return seen
}

/**
 * Prolongs the stop for a takeover by another shard: a primary that stalls now must not take writes later,
 * before it has learned of the takeover. The short pause must still be in force; the caller ends the stop.
 */
export async function keepWritesStopped(
  primary: EngineConnection,
  build: EngineBuild,
  { effect }: EffectRunner,
): Promise<void> {
  if (!canPauseWrites(build)) return // refused until the refusal is taken back
  await effect('pause-longer', () => primary.call('CLIENT', 'PAUSE', OUTLASTS_MS, 'WRITE'))
}

/**
 * Pauses all clients (Fairlead too) of a primary that refuses writes but not writes of scripts; nothing ends
 * this pause earlier. Returns their offset, and the earliest end (Time.elapsed). Null for engines on which
 * writes wait.
 */
export async function pauseAll(
  primary: EngineConnection,
  build: EngineBuild,
  { effect, elapsed }: EffectRunner & Elapsing,
): Promise<{ readonly offset: number; readonly endsAt: number } | null> {
  if (canPauseWrites(build)) return null
  const endsAt = elapsed() + PAUSE_ALL_MS
  // In one transaction, or the second command would wait, too. ROLE instead of INFO, which a transaction
  // would replicate.
  const [, , , replies] = await effect('pause-all', () =>
    Promise.all([
      primary.call('MULTI'),
      primary.call('CLIENT', 'PAUSE', PAUSE_ALL_MS),
      primary.call('ROLE'),
      primary.call('EXEC'),
    ]),
  )
  const role = Array.isArray(replies) ? replies[1] : null
  const [word, offset] = Array.isArray(role) ? role : []
  if (word !== 'master') throw new Error(`the shard at port ${primary.address.port} is no primary any more`)
  return { offset: Number(offset), endsAt }
}

/**
 * Stops writes at one of two primaries until a person has decided. Before Redis 6.2 they are refused, except
 * those of scripts, because a pause would hold Fairlead's commands; that refusal has no timeout: see
 * keep-writes-going.ts.
 */
export async function fence(
  primary: EngineConnection,
  build: EngineBuild,
  { effect }: EffectRunner,
): Promise<void> {
  if (canPauseWrites(build)) await effect('fence', () => primary.call('CLIENT', 'PAUSE', FENCE_MS, 'WRITE'))
  else await effect('fence', () => primary.call('CONFIG', 'SET', REFUSAL, NEVER_REPLICAS))
}

/** True if it refuses writes because of this module. Always false for engines on which writes wait. */
export async function refusesWrites(shard: EngineConnection, build: EngineBuild): Promise<boolean> {
  if (canPauseWrites(build)) return false
  const reply = await shard.call('CONFIG', 'GET', REFUSAL)
  return Array.isArray(reply) && reply[1] === String(NEVER_REPLICAS)
}

/** Ends every stop of a shard's clients. Idempotent. */
export async function resumeWrites(
  shard: EngineConnection,
  build: EngineBuild,
  { effect }: EffectRunner,
): Promise<void> {
  if (canPauseWrites(build)) await effect('unpause', () => shard.call('CLIENT', 'UNPAUSE'))
  else await effect('unpause', () => shard.call('CONFIG', 'SET', REFUSAL, 0))
}

function canPauseWrites({ flavour, version }: EngineBuild): boolean {
  return flavour !== 'redis' || compareVersions(version, '6.2') >= 0
}
