import type { DatabasesStore } from './databases-store.ts'
import type { ShardsStore } from './shards-store.ts'

/** Ports on record, of shards and endpoints, whether anybody listens there just now or not. */
export async function takenPorts(stores: {
  readonly shards: Pick<ShardsStore, 'list'>
  readonly databases: Pick<DatabasesStore, 'list'>
}): Promise<readonly number[]> {
  const endpoints = (await stores.databases.list()).flatMap(({ endpointPort }) => endpointPort ?? [])
  const shards = await stores.shards.list()
  return [
    ...shards.flatMap(({ port, tlsPort }) => (tlsPort === null ? [port] : [port, tlsPort])),
    ...endpoints,
  ]
}
