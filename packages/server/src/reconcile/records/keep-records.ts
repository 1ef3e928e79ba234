import type { Action } from '../../core/state/action.ts'
import { type Database, historyBefore } from '../../core/state/database.ts'
import { isLinked, isLive, type ObservedDatabase } from '../../core/state/topology.ts'
import type { DatabaseRecords, GroupHistory, ShardRecords } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { type ReportingPorts, reportRestartLoss } from './report-data-loss.ts'

/**
 * Records each primary's replication offset, so that a failover knows which replica is current; not while the
 * role moves. A restarted primary has another history: a possible loss is reported before that history is
 * recorded.
 */
export async function keepHistory(
  about: { readonly database: Database; readonly action: Action | undefined },
  { groups }: ObservedDatabase,
  ports: DatabaseRecords<'setHistories'> & ReportingPorts,
  memory: TurnMemory,
): Promise<void> {
  const { database } = about
  const news: GroupHistory[] = []
  for (const seen of groups) {
    const { group, history, handover, recordedPrimary, shards: members } = seen
    const primary = members.find(({ id }) => id === recordedPrimary)
    const moves = handover !== null && !handover.released
    if (moves || primary === undefined || !isLive(primary)) continue
    const { role, loading, replid, offset, runId } = primary.engine
    const { before } = historyBefore(primary.engine)
    if (role !== 'primary' || loading) continue
    if (history !== null) await reportRestartLoss(seen, history, about, ports)
    const key = `history of ${database.uid}:${group}`
    const writes = primary.engine.writes && `${runId} ${primary.engine.writes}`
    // Without writes, only PINGs of the engine were added.
    const isIdle = writes !== undefined && memory.notes.get(key) === writes
    const advanced = history?.offset !== offset && !isIdle && memory.isTime(key, HISTORY_EVERY_MS)
    const isSame = history?.replid === replid && history.runId === runId
    const another = !isSame || history.before?.until !== before?.until
    if (!another && !advanced) continue
    news.push({ group, history: { replid, offset, runId, ...(before && { before }) } })
    if (writes !== undefined) memory.notes.set(key, writes)
  }
  if (news.length > 0) await ports.databases.setHistories(database.uid, news)
}

/**
 * Not more often, because each record is a commit to disk; not less often, because a replica behind the
 * record does not replace a dead primary.
 */
const HISTORY_EVERY_MS = 1_000

/** Ends memory reservations of shards that follow their primary: the node itself counts their memory now. */
export async function endReservations(
  { groups }: ObservedDatabase,
  { shards }: ShardRecords<'withReservation' | 'endReservations'>,
): Promise<void> {
  const filled = groups.flatMap(({ recordedPrimary, shards: members }) => {
    const primary = members.find(({ id }) => id === recordedPrimary)
    return members.filter((shard) => shard === primary || (primary !== undefined && isLinked(shard, primary)))
  })
  // A database at rest has no reservation, and this writes nothing.
  const kept = await shards.withReservation(filled.map(({ id }) => id))
  if (kept.length > 0) await shards.endReservations(kept)
}
