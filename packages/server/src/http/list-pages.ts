import type { ListOrder, ListPage, Place } from '../core/requests/list-order.ts'
import { type Kind, type Page, readCursor, writeCursor } from './cursors.ts'

/** What a list is asked for in the words of the wire. */
interface PageWords<By extends string> {
  readonly limit?: number
  readonly offset?: number
  readonly cursor?: string
  readonly sort?: By | `-${By}`
}

/** The pages of one list. */
interface ListPages<By extends string, Entry> {
  /** Which entries to read: with a limit one more than is asked for, to know whether more follows. Throws InvalidInput. */
  read(query: PageWords<By>): ListPage<By>
  /** The page of what `read` has asked for. */
  answer(entries: readonly Entry[], query: PageWords<By>): Page<Entry[]>
}

/**
 * How a list is sorted and read page by page. `list`: its name, which its cursors have; `sorts`: by what it can be sorted, and what kind of value that is; `usual`: the sort of a query
 * without one; `uids`: the kind of its uids.
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
        ...{ order, after: readCursor({ list, order: sort }, sorts[order.by], cursor, uids) },
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
