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
