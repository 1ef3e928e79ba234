import { getShard, listDatabaseShards, listShards, Refusal } from '@fairlead/api'
import { databasesFor } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import { shardToWire } from './database-wire.ts'
import type { Shards } from './shards-service.ts'

/** Serves shards: of one database, of all that the caller may see, and one by its uid. */
export function shardsRoutes(mount: Mount, shards: Shards): void {
  mount(listDatabaseShards, async ({ params }) => (await shards.ofDatabase(params.uid)).map(shardToWire))

  mount(listShards, async ({ query }, caller) => {
    const only = databasesFor(caller.user, 'view_all_bdbs_info')
    return (await shards.list({ ...query, only })).map(shardToWire)
  })

  mount(getShard, async ({ params }, caller) => {
    const only = databasesFor(caller.user, 'view_all_bdbs_info')
    const found = await shards.get(params.uid)
    // A shard of a database that the caller may not see is not there for it.
    if (found === undefined || only?.includes(found.shard.databaseUid) === false)
      throw new Refusal('shard_not_exist', `shard ${params.uid} does not exist`)
    return shardToWire(found)
  })
}
