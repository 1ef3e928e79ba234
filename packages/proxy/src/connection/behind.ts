import type { EndpointReport } from '@fairlead/api/of-proxies'
import type { Connection } from './connection.ts'

/** Entry in the report of an endpoint: connections that are not at the new upstream yet. */
export type Behind = EndpointReport['behind'][number]

/** Counts the connections at each shard (`host:port`) other than `here`. */
export function behindOf(connections: ReadonlySet<Connection>, here: string): readonly Behind[] {
  const elsewhere = new Map<string, number>()
  for (const { link } of connections) {
    const shard = link?.via.shard ?? here
    if (shard !== here) elsewhere.set(shard, (elsewhere.get(shard) ?? 0) + 1)
  }
  return [...elsewhere].map(([shard, count]) => ({ shard, connections: count }))
}
