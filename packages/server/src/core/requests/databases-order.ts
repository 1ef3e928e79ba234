import type { Database, DatabaseStatus } from '../state/database.ts'
import type { BuildFilter } from './build-filter.ts'
import type { ListOrder } from './list-order.ts'

/** Order of a list of databases. */
export type DatabasesOrder = ListOrder<'uid' | 'name' | 'memory_size' | 'created_time' | 'last_changed_time'>

/** Default order of lists. */
export const byUid: DatabasesOrder = { by: 'uid', descending: false }

/** Returns the value that determines a database's place in a list. */
export function placeOf(database: Database, { by }: Pick<DatabasesOrder, 'by'>) {
  const { uid, name, memoryBytes, createdAt, changedAt } = database
  const values = {
    uid,
    name,
    memory_size: memoryBytes,
    created_time: createdAt,
    last_changed_time: changedAt,
  }
  return { value: values[by], uid }
}

/** Filter of a list of databases; all conditions must be true. */
export interface DatabasesFilter extends BuildFilter {
  /** Part of the name, in any case; or the uid in digits. */
  readonly q?: string
  readonly status?: DatabaseStatus
  /** True: only databases with an obstacle that needs a person. */
  readonly hasObstacle?: boolean
}
