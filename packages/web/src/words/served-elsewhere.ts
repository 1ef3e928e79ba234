import type { Action } from '@fairlead/api'
import { nameOfRuns, type Runs } from './describe-action.ts'
import { courseOf } from './describe-database.ts'

/**
 * Explains why a list filtered by version differs from the count of serving versions: the record has the old
 * version until an upgrade ends.
 */
export interface ServedElsewhere {
  /** Listed databases that another version serves by now. */
  readonly away: number
  /** Databases that this version serves, and that are not listed. */
  readonly others: number
}

type Row = Runs & { readonly action_uid?: string | undefined }

/** `version`: "valkey-8.1.1", the filter of `rows`. `open`: running actions. */
export function servedElsewhere(
  rows: readonly Row[],
  open: readonly Action[],
  version: string,
): ServedElsewhere {
  const running = new Map(open.map((action) => [action.action_uid, action]))
  const serves = (database: Runs, action: Action | undefined) =>
    nameOfRuns(courseOf(database, action).serves) === version
  const away = rows.filter((row) => !serves(row, running.get(row.action_uid ?? '')))
  const others = open.filter(
    (action) => action.from !== null && nameOfRuns(action.from) !== version && serves(action.from, action),
  )
  return { away: away.length, others: others.length }
}
