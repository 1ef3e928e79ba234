import type { ListOrder, ListPage, Place } from '../core/requests/list-order.ts'
import { type Kind, type Page, readCursor, writeCursor } from './cursors.ts'

/** Paging parameters of the wire. */
interface PageWords<By extends string> {
  readonly limit?: number
  readonly offset?: number
  readonly cursor?: string
  readonly sort?: By | `-${By}`
}

/** The pages of one list. */
interface ListPages<By extends string, Entry> {
  /** Selects entries; one more than `limit`, to detect a next page. Throws InvalidInput. */
  read(query: PageWords<By>): ListPage<By>
  /** The page for the entries that `read` selected. */
  answer(entries: readonly Entry[], query: PageWords<By>): Page<Entry[]>
}

/**
 * Sorting and paging of a list. `list` is its name in cursors, `sorts` its sort keys with their types,
 * `usual` its default sort, and `uids` the type of its uids.
 */
export function listPages<By extends string, Entry>({
  list,
  sorts,
  usual,
  uids = 'number',
  placeOf,
}: {
  readonly list: string
  readonly sorts: Readonly<Record<By, Kind>>
  readonly usual: By | `-${By}`
  readonly uids?: Kind
  readonly placeOf: (entry: Entry, by: By) => Place
}): ListPages<By, Entry> {
  return {
    read({ limit, offset, cursor, sort = usual }) {
      const order = orderOf<By>(sort)
      return {
        ...(limit !== undefined && { limit: limit + 1 }),
        ...(offset !== undefined && { offset }),
        order,
        after: readCursor({ list, order: sort }, sorts[order.by], cursor, uids),
      }
    },
    answer(entries, { limit, sort = usual }) {
      const last = limit === undefined || entries.length <= limit ? undefined : entries[limit - 1]
      return {
        entries: entries.slice(0, limit),
        next: last && writeCursor({ list, order: sort }, placeOf(last, orderOf<By>(sort).by)),
      }
    },
  }
}

function orderOf<By extends string>(sort: By | `-${By}`): ListOrder<By> {
  const descending = sort.startsWith('-')
  return { by: (descending ? sort.slice(1) : sort) as By, descending } // by the type of `sort`
}
