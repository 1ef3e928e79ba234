import { Type } from 'typebox'
import { operation } from '../contract/operation.ts'

/** What a server asks to be upgraded to (HTTP `Upgrade`), to speak to the engine of a shard. */
export const TUNNEL_PROTOCOL = 'fairlead-engine'

/**
 * Where a server asks for a tunnel to the engine of a shard: POST with `Upgrade: fairlead-engine` and an epoch. After 101, bytes go both ways between
 * the server and a connection of that engine on which the agent has signed in as its administrator. It ends when either side does, when a
 * higher epoch comes, and when the agent stalls.
 */
export function tunnelPath(shard: string): string {
  return `/agent/shards/${shard}/engine`
}

/** The name of the shard in the path of a tunnel; undefined: it is none. */
export function shardOfTunnel(path: string): string | undefined {
  return /^\/agent\/shards\/([a-z0-9-]{1,40})\/engine$/.exec(path)?.[1]
}

/** The header of a 101 that names the life of the agent. */
export const LIFE_HEADER = 'fairlead-agent-life'

/** Server → agent. If a tunnel fails because of the agent, the agent's life is another one than before, or it does not answer. */
export const readLife = operation({
  method: 'GET',
  path: '/agent/life',
  summary:
    'Name the present life of the agent. Another one begins with each start, and whenever it stalled for longer than orders may wait',
  since: '0.1.0',
  permission: null,
  ok: Type.Object({ life: Type.String() }),
  errors: [],
})
