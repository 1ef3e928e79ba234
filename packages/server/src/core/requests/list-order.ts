/** By what a list is sorted; of equal ones the uid decides, in the same direction. */
export interface ListOrder<By extends string> {
  readonly by: By
  readonly descending: boolean
}

/** An entry of a list: its value of what the list is sorted by, and its uid. */
export interface Place {
  readonly value: string | number
  readonly uid: number | string
}

/** A part of a list: at most `limit` entries after the one at `after`, but for the first `offset`. Without a limit, all. */
export interface ListPage<By extends string> {
  readonly order: ListOrder<By>
  readonly after?: Place | undefined
  readonly limit?: number
  readonly offset?: number
}

/** Which of two entries comes first: negative when it is `a`. */
export function comparePlaces(
  { descending }: Pick<ListOrder<string>, 'descending'>,
  a: Place,
  b: Place,
): number {
  const order = compare(a.value, b.value) || compare(a.uid, b.uid)
  return descending ? -order : order
}

/** The page of a list that is in memory as a whole. */
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
