import type { ObservedDatabase } from '../../core/state/topology.ts'

/**
 * While work is in progress: engines answer within milliseconds, and the upgrade of an idle database should
 * take seconds only.
 */
export const SOON_MS = 15
/**
 * Most changes that a turn waits for are reported by the agent at once. For the others the next look comes after a fifth of the time waited so far: the delay is bounded
 * by that, and ten databases that wait at the same time do not keep a busy machine busy.
 */
const PART_OF_WAIT = 5
/** For waits for a person or a time, and for events that the agent reports. What people see of the standbys is at most this old. */
export const HELD_MS = 250

/** The pause before the next look, when the same shard was waited for this long without progress. `told`: see isTold. */
export function pauseOfWait(waitedMs: number, told = false): number {
  return told ? HELD_MS : Math.min(HELD_MS, Math.max(SOON_MS, waitedMs / PART_OF_WAIT))
}

/** Whether the process of this shard is starting or stopping: its agent watches that, and reports each change at once. Looks of the server would only cost time. */
export function isTold({ groups }: ObservedDatabase, id: number): boolean {
  const shard = groups.flatMap(({ shards }) => shards).find((each) => each.id === id)
  return shard?.engine === null && (shard.process === 'starting' || shard.process === 'stopping')
}
