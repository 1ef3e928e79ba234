import type { History } from '../state/database.ts'
import type { EngineState } from '../state/topology.ts'

/**
 * How many bytes of its primary's stream, of those on record, are not held by who serves in its place; the record is as old as the last
 * look. Null where that is not known: it goes on with another history.
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
