import { createDatabase, deleteDatabase, getDatabase, listDatabaseShards, listDatabases } from '@fairlead/api'
import { may } from '../core/may.ts'
import type { User } from '../core/user.ts'
import type { Mount } from '../http/mount.ts'
import { fromWire, shardToWire, toWire } from './database-wire.ts'
import type { Databases } from './databases-service.ts'

export function databasesRoutes(mount: Mount, databases: Databases): void {
  mount(listDatabases, async (_, user) =>
    (await databases.list()).map((view) => toWire(view, seesPasswords(user))),
  )

  mount(getDatabase, async ({ params }, user) => toWire(await databases.get(params.uid), seesPasswords(user)))

  mount(createDatabase, async ({ body }, user) =>
    toWire(await databases.create(fromWire(body)), seesPasswords(user)),
  )

  mount(deleteDatabase, async ({ params }) => ({
    uid: params.uid,
    action_uid: (await databases.remove(params.uid)).actionUid,
  }))

  mount(listDatabaseShards, async ({ params }) => {
    const shards = await databases.shards(params.uid)
    return shards.map(({ shard, isPrimary, report }) => shardToWire(shard, isPrimary, report))
  })
}

export function seesPasswords(user: User | null): boolean {
  return user !== null && may(user.role, 'view_redis_pass')
}
