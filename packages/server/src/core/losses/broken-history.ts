import type { History } from '../state/database.ts'
import type { LiveShard } from '../state/topology.ts'

/**
 * Has a primary lost writes that it had acknowledged? That is so if its process is not the one whose history is on record (a process begins
 * another history by itself: without a backlog, when its first replica comes), has replaced a process that died, and neither continues
 * that history nor was promoted from it: a process that was promoted has a second history which reaches that point (an earlier death of a replica
 * says nothing about that). A process that loads a snapshot has a second history too, which ends with the snapshot.
 */
export function hasBrokenHistory({ beganAfterDeath, engine }: LiveShard, known: History): boolean {
  const goesOn = engine.replid === known.replid
  const wasPromoted = engine.replid2 === known.replid && engine.secondOffset > known.offset
  return beganAfterDeath && engine.runId !== known.runId && !goesOn && !wasPromoted
}
