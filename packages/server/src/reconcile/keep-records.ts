import type { Database } from '../core/database.ts'
import { isLinked, isLive, type SeenDatabase } from '../core/topology.ts'
import type { Deps } from './deps.ts'
import type { TurnMemory } from './turn-memory.ts'

/** How far each primary's history is, for the night when the primary is gone. Not while its role moves. */
export async function keepHistory(
  database: Database,
  { groups }: SeenDatabase,
  { databases, now }: Deps,
  memory: TurnMemory,
): Promise<void> {
  for (const { group, history, handover, recordedPrimary, shards: members } of groups) {
    const primary = members.find(({ id }) => id === recordedPrimary)
    const moves = handover !== null && !handover.released
    if (moves || primary === undefined || !isLive(primary)) continue
    const { role, replid, offset } = primary.engine
    if (role !== 'primary') continue
    const advanced =
      history?.offset !== offset &&
      memory.isTime(`history of ${database.uid}:${group}`, HISTORY_EVERY_MS, now())
    if (history?.replid !== replid || advanced)
      await databases.setHistory(database.uid, group, { replid, offset })
  }
}

/** A commit to disk each; a replica that is further behind than this is not promoted in place of a dead primary. */
const HISTORY_EVERY_MS = 1_000

/** Who follows its primary has taken the memory that was kept free for it: from now on the node itself counts it. */
export async function endReservations({ groups }: SeenDatabase, { shards }: Deps): Promise<void> {
  const filled = groups.flatMap(({ recordedPrimary, shards: members }) => {
    const primary = members.find(({ id }) => id === recordedPrimary)
    return members.filter((shard) => shard === primary || (primary !== undefined && isLinked(shard, primary)))
  })
  if (filled.length > 0) await shards.endReservations(filled.map(({ id }) => id))
}
