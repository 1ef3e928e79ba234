import type { History } from '../state/database.ts'
import type { EngineState } from '../state/topology.ts'

/**
 * How many bytes of the recorded stream of a primary its replacement lacks. The record is as old as the last
 * look. Null where that is not known: the replacement has another history.
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
