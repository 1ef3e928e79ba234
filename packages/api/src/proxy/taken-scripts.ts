import { type Static, Type } from 'typebox'

/** Scripts of clients, for the engine that gets the role. */
export const TakenScripts = Type.Object({
  /** Clients have flushed their scripts since the last call: the engine must flush before loading these. */
  flushed: Type.Boolean(),
  /** Texts as base64. */
  scripts: Type.Array(Type.String()),
})
export type TakenScripts = Static<typeof TakenScripts>
