import type { History } from '../state/database.ts'
import type { LiveShard } from '../state/topology.ts'

/**
 * Returns true if a primary has lost acknowledged writes. All of these must hold:
 * 1. Its process replaced one that died, and is not the process whose history is recorded. (A process may
 *    begin another history without a loss: without a backlog, when its first replica comes.)
 * 2. It does not continue the recorded history.
 * 3. It was not promoted from it: a promoted process has a second history that reaches the recorded point (an
 *    earlier death as a replica proves nothing). A process that loads a snapshot has a second history, too,
 *    which ends with the snapshot.
 */
export function hasBrokenHistory({ beganAfterDeath, engine }: LiveShard, known: History): boolean {
  const goesOn = engine.replid === known.replid
  const wasPromoted = engine.replid2 === known.replid && engine.secondOffset > known.offset
  return beganAfterDeath && engine.runId !== known.runId && !goesOn && !wasPromoted
}
