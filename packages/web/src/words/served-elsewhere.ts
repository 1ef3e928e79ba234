import type { Action } from '@fairlead/api'
import { nameOfRuns, type Runs } from './describe-action.ts'
import { courseOf } from './describe-database.ts'

/** Why a list that is filtered by version and a count of what a version serves are not the same: the record has the old version until an upgrade ends. */
export interface ServedElsewhere {
  /** Of those that are listed: so many are served by another version by now. */
  readonly away: number
  /** So many are served by this version, and not listed. */
  readonly others: number
}

type Row = Runs & { readonly action_uid?: string | undefined }

/** `version`: "valkey-8.1.1", by which `rows` were chosen. `open`: the actions that have not ended. */
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
