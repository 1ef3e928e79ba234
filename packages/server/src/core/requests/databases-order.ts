import type { Database, DatabaseStatus } from '../state/database.ts'

/** By what it is sorted; of equal ones the uid decides. */
export interface DatabasesOrder {
  readonly by: 'uid' | 'name' | 'memory_size' | 'created_time' | 'last_changed_time'
  readonly descending: boolean
}

/** The order of lists that ask for none. */
export const byUid: DatabasesOrder = { by: 'uid', descending: false }

/** The value of a database that its place in a list is known by. */
export function placeOf(database: Database, { by }: DatabasesOrder) {
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
export interface DatabasesFilter {
  /** A part of the name, whatever its case; or the uid in digits. */
  readonly q?: string
  readonly status?: DatabaseStatus
  /** Whether a person has to remove something. */
  readonly hasObstacle?: boolean
  readonly flavour?: string
  /** "8.1" stands for each 8.1.x. */
  readonly version?: string
}
