import { type Static, Type } from 'typebox'

/** Scripts of clients, for an engine that will have the role of theirs. */
export const TakenScripts = Type.Object({
  /** Clients have flushed their scripts since it was told last: it is to do so, before it is given these. */
  flushed: Type.Boolean(),
  /** Their texts, as base64. */
  scripts: Type.Array(Type.String()),
})
export type TakenScripts = Static<typeof TakenScripts>
