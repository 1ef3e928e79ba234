import { type Static, Type } from 'typebox'

/** Of a list in the order of its uids: at most `limit`, after the first `offset`. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'At most so many; all when absent' }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        default: 0,
        description: 'Leave out the first so many',
      }),
    ),
  },
  { additionalProperties: false },
)
/** Of a list with pages that stay whole while entries come and go: the header `X-Next-Cursor` of an answer leads to the next page. */
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

/** By what a list can be sorted: each of these names, and with `-` before it the other way round. */
export function sortQuery<const Name extends string>(names: readonly Name[]) {
  return {
    sort: Type.Optional(
      Type.Enum([...names, ...names.map((name) => `-${name}` as const)], {
        description: 'With - before it: the largest, or the newest, first. Of equal ones: by uid',
      }),
    ),
  }
}

/** What a list is searched for. */
export function searchQuery(description: string) {
  return { q: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description })) }
}
