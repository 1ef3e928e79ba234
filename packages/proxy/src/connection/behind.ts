import type { EndpointReport } from '@fairlead/api/of-proxies'
import type { Connection } from './connection.ts'

/** An entry in the report of an endpoint: connections that are not at the new upstream yet. */
export type Behind = EndpointReport['behind'][number]

/** How many connections are at which shard other than `here`, each as `host:port`. */
export function behindOf(connections: ReadonlySet<Connection>, here: string): readonly Behind[] {
  const elsewhere = new Map<string, number>()
  for (const { link } of connections) {
    const shard = link?.via.shard ?? here
    if (shard !== here) elsewhere.set(shard, (elsewhere.get(shard) ?? 0) + 1)
  }
  return [...elsewhere].map(([shard, count]) => ({ shard, connections: count }))
}
