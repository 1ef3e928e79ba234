import type { History } from '../state/database.ts'
import type { EngineState, Snapshot } from '../state/topology.ts'

/**
 * Returns the bytes of a primary's recorded stream that its replacement lacks; the record is as old as the
 * last look. Null if unknown: the replacement has another history.
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
 * Returns the bytes of a primary's recorded stream that are not in the snapshot loaded by its next process,
 * for engines that take no history from a snapshot (Redis 6). Null if unknown: the snapshot has another
 * history, or none.
 */
export function lostSinceSnapshot(history: History, snapshot: Snapshot | null): number | null {
  if (snapshot === null || snapshot.offset === null) return null
  const { before } = history
  const isOfBefore =
    before !== undefined && snapshot.replid === before.replid && snapshot.offset < before.until
  if (snapshot.replid !== history.replid && !isOfBefore) return null
  return Math.max(0, history.offset - snapshot.offset)
}
