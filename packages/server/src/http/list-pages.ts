import type { ListOrder, ListPage, Place } from '../core/requests/list-order.ts'
import { InvalidInput } from './compile-validator.ts'

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

/** A page of a list. The next begins at `next`; undefined: last page. */
export interface Page<Entries> {
  readonly entries: Entries
  readonly next: string | undefined
}

/** A list by name, in one order. */
interface Sorted {
  readonly list: string
  readonly order: string
}

/** A place in a list, in the form for clients. */
export function writeCursor({ list, order }: Sorted, { value, uid }: Place): string {
  return Buffer.from(JSON.stringify([list, order, value, uid])).toString('base64url')
}

/** Types of values in a cursor. */
type Kind = 'text' | 'number'

/**
 * Decodes a cursor. Throws InvalidInput for another list or order, or a forged one. `kind` is the type of
 * sort values, `uids` that of uids.
 */
export function readCursor(
  { list, order }: Sorted,
  kind: Kind,
  cursor: string | undefined,
  uids: Kind = 'number',
): Place | undefined {
  if (cursor === undefined) return undefined
  const [of, sortedBy, value, uid] = parse(cursor)
  const isValue = kind === 'text' ? isText(value) : Number.isSafeInteger(value)
  const isKnown = uids === 'text' ? isText(uid) : isUid(uid)
  if (of === list && sortedBy === order && isValue && isKnown) return { value, uid } as Place // just checked
  throw new InvalidInput([{ field: 'cursor', message: `cursor: ${whyNot()}` }])

  function whyNot(): string {
    if (typeof of !== 'string' || typeof sortedBy !== 'string')
      return 'must be what the header X-Next-Cursor of an answer had'
    if (of !== list) return 'is of another list: send it to the list that it came from'
    if (sortedBy !== order) return 'is of a list with another sort: send the sort that it came with'
    return 'must be what the header X-Next-Cursor of an answer had'
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

function isUid(uid: unknown): uid is number {
  return typeof uid === 'number' && Number.isInteger(uid) && uid >= 0 && uid <= 2_147_483_647
}

function parse(cursor: string): readonly unknown[] {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(read) ? read : []
  } catch {
    return [] // the caller refuses it
  }
}
