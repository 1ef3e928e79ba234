import { type Static, Type } from 'typebox'

/** A startable engine build; `source` is where its program was found. */
export const FoundBuild = Type.Object({
  flavour: Type.String(),
  version: Type.String(),
  source: Type.Enum(['path', 'folder']),
  /** The server program on that node. */
  program: Type.String(),
  /** Version of its Debian-like package; absent if unknown. */
  package: Type.Optional(Type.String()),
  /** Suite of Debian from which it was fetched; absent if it was not. */
  suite: Type.Optional(Type.String()),
})
export type FoundBuild = Static<typeof FoundBuild>
