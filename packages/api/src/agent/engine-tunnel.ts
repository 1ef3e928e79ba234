import { Type } from 'typebox'
import { socketOperation } from '../contract/operation.ts'

/** Protocol for HTTP `Upgrade` to speak to the engine of a shard. */
export const TUNNEL_PROTOCOL = 'fairlead-engine'

/**
 * Path of a tunnel to a shard's engine: POST with `Upgrade: fairlead-engine` and an epoch. After 101, bytes
 * pass between the server and an engine connection that the agent has signed in as administrator. It ends
 * with either side, on a higher epoch, and if the agent stalls.
 */
export function tunnelPath(shard: string): string {
  return `/agent/shards/${shard}/engine`
}

/** The shard in the path of a tunnel; undefined: another path. */
export function shardOfTunnel(path: string): string | undefined {
  return /^\/agent\/shards\/([a-z0-9-]{1,40})\/engine$/.exec(path)?.[1]
}

/** Header of a 101 with the life of the agent. */
export const LIFE_HEADER = 'fairlead-agent-life'

/** Server → agent. After the agent broke a tunnel, its life has changed or it does not answer. */
export const readLife = socketOperation({
  method: 'GET',
  path: '/agent/life',
  summary:
    'Name the present life of the agent. Another one begins with each start, and whenever it stalled for longer than orders may wait',
  ok: Type.Object({ life: Type.String() }),
})
