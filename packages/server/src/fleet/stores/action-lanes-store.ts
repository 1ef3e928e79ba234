import type { LaneRecord } from '../../core/state/lane-record.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn } from '../../store/stored-column.ts'
import { StoredLane } from '../../store/stored-lane.ts'

/** One row per group: a turn usually changes one of many. `db` may be a transaction. */
export function actionLanesStore(db: Db) {
  return {
    /** The lanes of an action, by group; empty if it has not begun. */
    async of(actionUid: string): Promise<readonly LaneRecord[]> {
      const rows = await db
        .selectFrom('action_lanes')
        .select(['group_number', 'data'])
        .where('action_uid', '=', actionUid)
        .orderBy('group_number')
        .execute()
      return rows.map((row) => laneOf(row.data, `${actionUid}:${row.group_number}`))
    },
    /** Replaces these lanes. Call it in the transaction of their action. */
    async put(actionUid: string, lanes: readonly LaneRecord[]): Promise<void> {
      for (const lane of lanes) {
        const data = JSON.stringify(lane)
        await db
          .insertInto('action_lanes')
          .values({ action_uid: actionUid, group_number: lane.group, data })
          .onConflict((conflict) => conflict.columns(['action_uid', 'group_number']).doUpdateSet({ data }))
          .execute()
      }
    },
  }
}

const laneOf = jsonColumn('action_lanes', 'data', StoredLane)
