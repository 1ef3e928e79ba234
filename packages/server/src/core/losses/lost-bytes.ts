import type { History } from '../state/database.ts'
import type { EngineState, Snapshot } from '../state/topology.ts'

/**
 * How many bytes of the recorded stream of a primary are missing at its replacement. The record is as old as the last
 * look. Null if that is not known: the replacement has another history.
 */
export function lostBytes(
  history: History | null,
  engine: Pick<EngineState, 'replid' | 'replid2' | 'secondOffset' | 'offset'>,
): number | null {
  if (history === null) return null
  if (engine.replid === history.replid) return Math.max(0, history.offset - engine.offset)
  if (engine.replid2 !== history.replid) return null
  return Math.max(0, history.offset - (engine.secondOffset - 1))
}

/**
 * How many bytes of the recorded stream of a primary are not in the snapshot that its next process has loaded. For engines that take no history
 * from a snapshot (redis 6). Null if that is not known: the snapshot is of another history, or does not name its history.
 */
export function lostSinceSnapshot(history: History, snapshot: Snapshot | null): number | null {
  if (snapshot === null || snapshot.offset === null) return null
  const { before } = history
  const isOfBefore =
    before !== undefined && snapshot.replid === before.replid && snapshot.offset < before.until
  if (snapshot.replid !== history.replid && !isOfBefore) return null
  return Math.max(0, history.offset - snapshot.offset)
}
