import type { Build } from '@fairlead/api'
import { compareVersions, type EngineConnection } from '@fairlead/engine'
import type { EffectRunner, PassingTime } from '../turn/ports.ts'

/** The pause ends by itself after this, also if the server dies. It is needed for a few milliseconds only. */
const PAUSE_MS = 2_000
/** Longer than the agent waits before it ends a silent primary (2 minutes): a primary that wakes up before that is still paused. */
const OUTLASTS_MS = 150_000
/** All clients of an old primary wait this long when its role moves in cluster mode: the order to take over is valid for most of this time. */
const PAUSE_ALL_MS = 600
/** For how long `fence` stops writes. Each turn of a stuck database renews it; without turns it ends by itself. */
const FENCE_MS = 30_000
/** More replicas than any database has: the engine then refuses writes. */
const NEVER_REPLICAS = 1_000
const REFUSAL = 'min-replicas-to-write'

/**
 * Stops writes at a primary and then has a `look`, which is sent behind the order on the same connection and does not
 * wait for its answer: what the look sees of the primary does not change any more. Works on engines of any age. Since redis 6.2 writes wait (CLIENT PAUSE
 * … WRITE). Before 6.2, a pause would hold Fairlead's commands too, and held commands would be executed at its end: there, writes are refused instead
 * (NOREPLICAS), with a setting that `letWritesGo` takes back.
 */
export async function stopWrites<T>(
  primary: EngineConnection,
  build: Build,
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
 * Prolongs the stop for a takeover by another shard, in which this primary takes no part: if this primary stalls now
 * and wakes up later, it must not take writes before it has learned of the takeover. The short pause must still
 * be in force when this is called; the caller ends the stop.
 */
export async function keepWritesStopped(
  primary: EngineConnection,
  build: Build,
  { effect }: EffectRunner,
): Promise<void> {
  if (!canPauseWrites(build)) return // refused until the refusal is taken back
  await effect('pause-longer', () => primary.call('CLIENT', 'PAUSE', OUTLASTS_MS, 'WRITE'))
}

/**
 * For a primary that refuses writes, but not writes of scripts: all its clients wait, Fairlead included, until the time is over; nothing ends this
 * pause earlier. Answers the offset at which they wait, and until when at least (Time.elapsed). Null for engines on which writes wait: they do not need this.
 */
export async function pauseAll(
  primary: EngineConnection,
  build: Build,
  { effect, time }: EffectRunner & PassingTime,
): Promise<{ readonly offset: number; readonly endsAt: number } | null> {
  if (canPauseWrites(build)) return null
  const endsAt = time.elapsed() + PAUSE_ALL_MS
  // In one transaction, or the second command would wait, too. ROLE instead of INFO, because INFO in a transaction would be replicated.
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
 * Keeps a primary beside another one from taking more writes, until a person has decided. Before redis 6.2 they are refused, but for
 * those of scripts; a pause would hold Fairlead's own commands too. The refusal does not end by itself: see keep-writes-going.ts.
 */
export async function fence(
  primary: EngineConnection,
  build: Build,
  { effect }: EffectRunner,
): Promise<void> {
  if (canPauseWrites(build)) await effect('fence', () => primary.call('CLIENT', 'PAUSE', FENCE_MS, 'WRITE'))
  else await effect('fence', () => primary.call('CONFIG', 'SET', REFUSAL, NEVER_REPLICAS))
}

/** Does it refuse writes because this module told it to? Always false for engines on which writes wait instead. */
export async function refusesWrites(shard: EngineConnection, build: Build): Promise<boolean> {
  if (canPauseWrites(build)) return false
  const reply = await shard.call('CONFIG', 'GET', REFUSAL)
  return Array.isArray(reply) && reply[1] === String(NEVER_REPLICAS)
}

/** Ends every stop of a shard's clients. Idempotent. */
export async function letWritesGo(
  shard: EngineConnection,
  build: Build,
  { effect }: EffectRunner,
): Promise<void> {
  if (canPauseWrites(build)) await effect('unpause', () => shard.call('CLIENT', 'UNPAUSE'))
  else await effect('unpause', () => shard.call('CONFIG', 'SET', REFUSAL, 0))
}

function canPauseWrites({ flavour, version }: Build): boolean {
  return flavour !== 'redis' || compareVersions(version, '6.2') >= 0
}
