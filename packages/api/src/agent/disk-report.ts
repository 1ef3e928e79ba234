import { type Static, Type } from 'typebox'

/** What lies in the data folder of a shard. */
export const DiskReport = Type.Object({
  /** Unix milliseconds, as `at`. */
  lookedAt: Type.Integer(),
  /** dump.rdb: when it was written, and at which offset of which history (null: it had no replica then). */
  snapshot: Type.Union([
    Type.Object({
      at: Type.Integer(),
      replid: Type.Union([Type.String(), Type.Null()]),
      offset: Type.Union([Type.Integer(), Type.Null()]),
    }),
    Type.Null(),
  ]),
  /** `whole`: the append-only file holds each write of the last process. `older`: of one before it. */
  aof: Type.Enum(['none', 'older', 'whole']),
  /** In cluster mode, the epoch with which the last process served slots; null: it served none. */
  claim: Type.Union([Type.Integer(), Type.Null()]),
})
export type DiskReport = Static<typeof DiskReport>
