import type { PortRange } from '../core/state/port-range.ts'
import type { DatabasesStore } from './databases-store.ts'
import type { ShardsStore } from './shards-store.ts'

/** Ports of a range that are on record, of shards and endpoints, in use at the moment or not; each once. */
export async function takenPorts(
  range: PortRange,
  stores: {
    readonly shards: Pick<ShardsStore, 'portsWithin'>
    readonly databases: Pick<DatabasesStore, 'portsWithin'>
  },
): Promise<readonly number[]> {
  const [shards, endpoints] = [
    await stores.shards.portsWithin(range),
    await stores.databases.portsWithin(range),
  ]
  return [...new Set([...shards, ...endpoints])]
}

/** How many that are: no port is on record twice. */
export async function countTakenPorts(
  range: PortRange,
  stores: {
    readonly shards: Pick<ShardsStore, 'countPortsWithin'>
    readonly databases: Pick<DatabasesStore, 'countPortsWithin'>
  },
): Promise<number> {
  return (await stores.shards.countPortsWithin(range)) + (await stores.databases.countPortsWithin(range))
}
