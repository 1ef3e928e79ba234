import { type Static, Type } from 'typebox'
import { closed, optional } from './closed.ts'

/** For a list by uid: at most `limit` entries after `offset`. */
export const PageQuery = closed(
  optional({
    limit: Type.Integer({ minimum: 1, maximum: 10_000, description: 'At most so many; all when absent' }),
    offset: Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      default: 0,
      description: 'Leave out the first so many',
    }),
  }),
)
/** For stable pages while entries come and go: the header `X-Next-Cursor` leads to the next page. */
export const cursorQuery = {
  cursor: Type.Optional(
    Type.String({
      maxLength: 1_024,
      description:
        'Go on after a page: what its header X-Next-Cursor had, with the same sort. Absent: from the beginning',
    }),
  ),
}

export type PageQuery = Static<typeof PageQuery>

/** Sort keys of a list; with `-`, in reverse. */
export function sortQuery<const Name extends string>(names: readonly Name[]) {
  return {
    sort: Type.Optional(
      Type.Enum([...names, ...names.map((name) => `-${name}` as const)], {
        description: 'With - before it: the largest, or the newest, first. Of equal ones: by uid',
      }),
    ),
  }
}

/** A search in a list. */
export function searchQuery(description: string) {
  return { q: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description })) }
}
