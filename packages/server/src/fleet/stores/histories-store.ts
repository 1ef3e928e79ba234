import type { History } from '../../core/state/database.ts'
import type { Db } from '../../store/open-store.ts'

/** The columns of a group that say how far its history is known to reach. */
export function historyToColumns({ replid, offset, runId, before }: History) {
  return {
    ...{ history_replid: replid, history_offset: offset, history_run_id: runId },
    history_before_replid: before?.replid ?? null,
    history_before_until: before?.until ?? null,
  }
}

/** How far the stream of a primary has come: the process of a shard, its history, and bytes of that. */
export interface SeenStream {
  readonly shard: number
  readonly runId: string
  readonly replid: string
  readonly offset: number
}

/** On record as far as it was seen: only of the process and the history that are there, and not while the role moves. */
export async function advanceHistory(db: Db, { shard, runId, replid, offset }: SeenStream): Promise<void> {
  const uid = db.selectFrom('shards').select('database_uid').where('id', '=', shard)
  await db
    .updateTable('groups')
    .set({ history_offset: offset })
    .where('database_uid', '=', uid)
    .where('primary_shard', '=', shard)
    .where('history_run_id', '=', runId)
    .where('history_replid', '=', replid)
    .where('history_offset', '<', offset)
    .where((is) => {
      const moving = is
        .selectFrom('handovers')
        .select('handovers.id')
        .whereRef('handovers.database_uid', '=', 'groups.database_uid')
        .whereRef('handovers.group_number', '=', 'groups.number')
        .where('handovers.closed', '=', 0)
        .where('handovers.released', '=', 0)
      return is.not(is.exists(moving))
    })
    .execute()
}
