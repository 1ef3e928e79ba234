import type { PageQuery } from '@fairlead/api'

/** What a query answers of a page; without a limit, all that follows. Its order is the caller's. */
export function pageOf<Query extends Paged<Query>>(query: Query, { limit, offset = 0 }: PageQuery): Query {
  if (limit === undefined && offset === 0) return query
  // SQLite knows no offset without a limit.
  return query.limit(limit ?? Number.MAX_SAFE_INTEGER).offset(offset)
}

interface Paged<Query> {
  limit(most: number): Query
  offset(first: number): Query
}
