import type { ActionOutcome, ActionPhase } from '@fairlead/api'
import type { ActionStatus } from '../state/action.ts'
import type { Database, DatabaseStatus } from '../state/database.ts'

/** Sort key of a list; equal values are sorted by uid, in the same direction. */
export interface ListOrder<By extends string> {
  readonly by: By
  readonly descending: boolean
}

/** An entry of a list: its value of the sort key, and its uid. */
export interface Place {
  readonly value: string | number
  readonly uid: number | string
}

/** Part of a list: after `after`, skipping `offset` entries, at most `limit` (default: all). */
export interface ListPage<By extends string> {
  readonly order: ListOrder<By>
  readonly after?: Place | undefined
  readonly limit?: number
  readonly offset?: number
}

/** Compares two entries; negative if `a` comes first. */
export function comparePlaces(
  { descending }: Pick<ListOrder<string>, 'descending'>,
  a: Place,
  b: Place,
): number {
  const order = compare(a.value, b.value) || compare(a.uid, b.uid)
  return descending ? -order : order
}

/** Returns a page of a list that is in memory. */
export function pageInMemory<By extends string, Entry>(
  entries: readonly Entry[],
  { order, after, limit, offset = 0 }: ListPage<By>,
  placeOf: (entry: Entry, by: By) => Place,
): readonly Entry[] {
  const placed = entries.map((entry) => ({ entry, place: placeOf(entry, order.by) }))
  const following = placed.filter(
    ({ place }) => after === undefined || comparePlaces(order, place, after) > 0,
  )
  return following
    .toSorted((a, b) => comparePlaces(order, a.place, b.place))
    .slice(offset, limit === undefined ? undefined : offset + limit)
    .map(({ entry }) => entry)
}

function compare(a: string | number, b: string | number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Filter of a list of actions; all conditions must be true. */
export interface ActionsFilter {
  readonly status?: ActionStatus | undefined
  readonly phase?: ActionPhase | undefined
  readonly outcome?: ActionOutcome | undefined
  /** Uid of the database. */
  readonly database?: number | undefined
  /** Part of an existing database's name, in any case; or its uid in digits. */
  readonly q?: string | undefined
}

/** Order of a list of actions. */
export type ActionsOrder = ListOrder<'created_time' | 'last_changed_time'>

/** Filter of a list of engine builds, by flavour and version; "8.1" matches each 8.1.x. */
interface BuildFilter {
  readonly flavour?: string
  readonly version?: string
}

/** Parses "8.1", "8.1.1" or "valkey-8.1"; if absent, all builds match. */
export function readBuildFilter(asked = ''): BuildFilter {
  const [, flavour, version] = /^(?:([a-z]+)-)?(.+)$/.exec(asked) ?? []
  return { ...(flavour !== undefined && { flavour }), ...(version !== undefined && { version }) }
}

/** True if a build matches the filter. */
export function isOfBuild(
  build: { readonly flavour: string; readonly version: string },
  { flavour, version }: BuildFilter,
): boolean {
  if (flavour !== undefined && flavour !== build.flavour) return false
  return version === undefined || build.version === version || build.version.startsWith(`${version}.`)
}

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
