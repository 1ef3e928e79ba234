import { type Static, Type } from 'typebox'

/** The content of a shard's data folder. */
export const DiskReport = Type.Object({
  /** Unix milliseconds, like `at`. */
  lookedAt: Type.Integer(),
  /** dump.rdb: when it was written, with history and offset (null: it had no replica then). */
  snapshot: Type.Union([
    Type.Object({
      at: Type.Integer(),
      replid: Type.Union([Type.String(), Type.Null()]),
      offset: Type.Union([Type.Integer(), Type.Null()]),
    }),
    Type.Null(),
  ]),
  /** `whole`: the append-only file has every write of the last process. `older`: of an earlier one. */
  aof: Type.Enum(['none', 'older', 'whole']),
  /** In cluster mode, the epoch of the slots that the last process served; null: none. */
  claim: Type.Union([Type.Integer(), Type.Null()]),
})
export type DiskReport = Static<typeof DiskReport>
