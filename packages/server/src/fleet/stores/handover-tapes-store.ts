import { HandoverTape } from '@fairlead/api'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn } from '../../store/stored-column.ts'

/** What endpoints counted around handovers. */
export interface HandoverTapesStore {
  /** In place of one that was taken before, when it was not complete. Drops those of handovers that are much older, of whatever database. */
  keep(handover: number, tape: HandoverTape): Promise<void>
  get(handover: number): Promise<HandoverTape | undefined>
}

/** Handovers and attempts are numbered one after the other. A tape takes some 4 KB. */
const NEWEST = 2_000

/** Rows of `handover_tapes`, through `db`, which may be a transaction. */
export function handoverTapesStore(db: Db): HandoverTapesStore {
  return {
    async keep(handover, tape) {
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
    async get(handover) {
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
