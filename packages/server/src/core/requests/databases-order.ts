import type { Database, DatabaseStatus } from '../state/database.ts'
import type { BuildFilter } from './build-filter.ts'
import type { ListOrder } from './list-order.ts'

/** The order of a list of databases. */
export type DatabasesOrder = ListOrder<'uid' | 'name' | 'memory_size' | 'created_time' | 'last_changed_time'>

/** The order of lists that ask for none. */
export const byUid: DatabasesOrder = { by: 'uid', descending: false }

/** The value of a database that its place in a list is known by. */
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

/** Which databases a list has: only those for which all of it is true. */
export interface DatabasesFilter extends BuildFilter {
  /** A part of the name, whatever its case; or the uid in digits. */
  readonly q?: string
  readonly status?: DatabaseStatus
  /** Whether a person has to remove something. */
  readonly hasObstacle?: boolean
}
