import { type Static, Type } from 'typebox'

/** Our own end of a connection to a shard, as the shard's CLIENT LIST and slow log name it, and the shard's. */
const ClientVia = Type.Object({ address: Type.String(), shard: Type.String() })

/** The clients of an endpoint and the addresses that shards see in their place. */
export const ClientList = Type.Object({
  /** All that there are, whether listed or not. */
  connections: Type.Integer(),
  clients: Type.Array(
    Type.Object({
      client: Type.String(),
      /** None while it waits for its first; of a sharded database one for each group that it has asked something. */
      via: Type.Array(ClientVia),
      /** In milliseconds since 1970. */
      connectedAt: Type.Integer(),
      /** The client's name, and the user as which it has signed in; both cut to a bounded length. */
      name: Type.String(),
      user: Type.String(),
      held: Type.Boolean(),
    }),
  ),
})
export type ClientList = Static<typeof ClientList>
