import { HandoverTape } from '@fairlead/api'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn } from '../../store/stored-column.ts'

/** Handovers and attempts share one sequence of numbers. A tape takes about 4 KB. */
const NEWEST = 2_000

/** Counts of endpoints around handovers. Rows of `handover_tapes`; `db` may be a transaction. */
export function handoverTapesStore(db: Db) {
  return {
    /**
     * Stores a tape, or replaces an incomplete one. Removes tapes of much older handovers of all databases.
     */
    async keep(handover: number, tape: HandoverTape): Promise<void> {
      const data = JSON.stringify(tape)
      await db
        .insertInto('handover_tapes')
        .values({ handover_id: handover, data })
        .onConflict((conflict) => conflict.column('handover_id').doUpdateSet({ data }))
        .execute()
      await db
        .deleteFrom('handover_tapes')
        .where('handover_id', '<=', handover - NEWEST)
        .execute()
    },
    async get(handover: number): Promise<HandoverTape | undefined> {
      const row = await db
        .selectFrom('handover_tapes')
        .select('data')
        .where('handover_id', '=', handover)
        .executeTakeFirst()
      return row && read(row.data, handover)
    },
  }
}

const read = jsonColumn('handover_tapes', 'data', HandoverTape)
