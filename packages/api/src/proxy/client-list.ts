import { type Static, Type } from 'typebox'

/** Our end of a connection to a shard, as in the shard's CLIENT LIST and slow log, and the shard's end. */
const ClientVia = Type.Object({ address: Type.String(), shard: Type.String() })

/** Clients of an endpoint, and the addresses that shards see instead. */
export const ClientList = Type.Object({
  /** Including those not listed. */
  connections: Type.Integer(),
  clients: Type.Array(
    Type.Object({
      client: Type.String(),
      /** Empty before its first connection; in a sharded database one per group that it has used. */
      via: Type.Array(ClientVia),
      /** Unix milliseconds. */
      connectedAt: Type.Integer(),
      /** The client's name and user, cut to a maximum length. */
      name: Type.String(),
      user: Type.String(),
      held: Type.Boolean(),
    }),
  ),
})
export type ClientList = Static<typeof ClientList>
