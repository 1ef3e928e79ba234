import type { History } from '../state/database.ts'
import type { LiveShard } from '../state/topology.ts'

/**
 * Has a primary forgotten what it had acknowledged? Its process is not the one whose history is on record (a process begins
 * another one by itself: without a backlog, when its first replica comes), took the place of one that had died, and neither goes on
 * with that history nor was it promoted from there: then its second history reaches that point (of which a replica's earlier death
 * would say nothing). One that loads a snapshot has a second history too, which ends with the snapshot.
 */
export function hasBrokenHistory({ beganAfterDeath, engine }: LiveShard, known: History): boolean {
  const goesOn = engine.replid === known.replid
  const wasPromoted = engine.replid2 === known.replid && engine.secondOffset > known.offset
  return beganAfterDeath && engine.runId !== known.runId && !goesOn && !wasPromoted
}
