import { getShard, type Input, listDatabaseShards, listShards, Refusal, type Shard } from '@fairlead/api'
import { databasesFor } from '../../core/identity/access.ts'
import { isOfBuild, readBuildFilter } from '../../core/requests/list-order.ts'
import type { Shards, ShardsOfDatabase } from '../../fleet/databases/shards-service.ts'
import { listPages } from '../../http/list-pages.ts'
import type { Mount } from '../../http/mount.ts'
import { shardToWire } from './database-wire.ts'

/** Pages count databases. */
const pages = listPages<'uid', ShardsOfDatabase>({
  list: 'shards',
  sorts: { uid: 'number' },
  usual: 'uid',
  placeOf: ({ database: { uid } }) => ({ value: uid, uid }),
})

/** Serves shards of one database, all visible ones, and one by uid. */
export function shardsRoutes(mount: Mount, shards: Shards): void {
  mount(listDatabaseShards, async ({ params }) => (await shards.ofDatabase(params.uid)).map(shardToWire))

  mount(listShards, async ({ query }, caller) => {
    const only = databasesFor(caller.user, 'view_all_bdbs_info')
    const filter = query.q === undefined ? {} : { q: query.q }
    const { entries, next } = pages.answer(await shards.list({ ...pages.read(query), filter, only }), query)
    const found = entries.flatMap((one) => one.shards.map(shardToWire))
    return { entries: found.filter((shard) => isChosen(shard, query)), next }
  })

  mount(getShard, async ({ params }, caller) => {
    const only = databasesFor(caller.user, 'view_all_bdbs_info')
    const found = await shards.get(params.uid)
    // Hidden shards do not exist for the caller.
    if (found === undefined || only?.includes(found.shard.databaseUid) === false)
      throw new Refusal('shard_not_exist', `shard ${params.uid} does not exist`)
    return shardToWire(found)
  })
}

function isChosen(shard: Shard, { status, engine_version }: Input<typeof listShards>['query']): boolean {
  if (status !== undefined && status !== shard.status) return false
  return isOfBuild({ flavour: shard.engine, version: shard.engine_version }, readBuildFilter(engine_version))
}
