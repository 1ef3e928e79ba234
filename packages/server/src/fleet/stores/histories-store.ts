import type { History } from '../../core/state/database.ts'
import type { Db } from '../../store/open-store.ts'

/** The columns with the known history of a group. */
export function historyToColumns({ replid, offset, runId, before }: History) {
  return {
    history_replid: replid,
    history_offset: offset,
    history_run_id: runId,
    history_before_replid: before?.replid ?? null,
    history_before_until: before?.until ?? null,
  }
}

/** The stream of a primary: process, history, and offset in bytes. */
export interface SeenStream {
  readonly shard: number
  readonly runId: string
  readonly replid: string
  readonly offset: number
}

/** Records the offset if process and history still match, and the role is not moving. */
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
