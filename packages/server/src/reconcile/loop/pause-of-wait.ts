import type { ObservedDatabase } from '../../core/state/topology.ts'

/** Pause during work: engines answer within milliseconds; upgrading an idle database should take seconds. */
export const SOON_MS = 15
/**
 * The agent reports most awaited changes immediately. For the others the next look comes after a fifth of the
 * time waited so far: this bounds the delay, and ten waiting databases do not load a busy machine.
 */
const PART_OF_WAIT = 5
/** Pause while waiting for a person, a time, or the agent's report. Shown data is at most this old. */
export const HELD_MS = 250

/** Returns the pause before the next look at a shard. Second argument: see isAgentWatching. */
export function pauseOfWait(waitedMs: number, told = false): number {
  return told ? HELD_MS : Math.min(HELD_MS, Math.max(SOON_MS, waitedMs / PART_OF_WAIT))
}

/** True if the shard's process starts or stops: its agent reports changes, so more looks only cost time. */
export function isAgentWatching({ groups }: ObservedDatabase, id: number): boolean {
  const shard = groups.flatMap(({ shards }) => shards).find((each) => each.id === id)
  return shard?.engine === null && (shard.process === 'starting' || shard.process === 'stopping')
}
