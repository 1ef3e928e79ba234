import { createDatabase, deleteDatabase, getDatabase, listDatabases } from '@fairlead/api'
import { actorOf, databasesFor } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import { standing } from '../http/standing-answers.ts'
import { fromWire } from './database-wire.ts'
import type { Databases } from './databases-service.ts'
import { show, showWithoutSecrets } from './show-database.ts'

/** Serves the operations that create, read and delete databases. A list leaves out databases that the caller may not see, and all secrets. */
export function databasesRoutes(mount: Mount, databases: Databases): void {
  mount(listDatabases, async ({ query }, caller) => {
    const only = databasesFor(caller.user, 'view_all_bdbs_info')
    return (await databases.list({ ...query, only })).map(showWithoutSecrets)
  })

  mount(getDatabase, async ({ params }, caller) => standing(show(await databases.get(params.uid), caller)))

  mount(createDatabase, async ({ body }, caller) =>
    show(await databases.create(fromWire(body), actorOf(caller)), caller),
  )

  mount(deleteDatabase, async ({ params }, caller) => ({
    uid: params.uid,
    action_uid: (await databases.remove(params.uid, actorOf(caller))).actionUid,
  }))
}
