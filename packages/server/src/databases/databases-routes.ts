import {
  createDatabase,
  type Database as DatabaseAnswer,
  deleteDatabase,
  getDatabase,
  listDatabases,
} from '@fairlead/api'
import { actorOf, type Caller, databasesFor, may } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import { standing } from '../http/standing-answers.ts'
import { fromWire, toWire } from './database-wire.ts'
import type { Databases, DatabaseView } from './databases-service.ts'

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

/** A database as this caller may see it, where programs of the wider API expect its secrets. A page in a browser has to ask for them by name. */
export function show(view: DatabaseView, { user, token }: Caller): DatabaseAnswer {
  return token?.isSession !== true && may(user, 'view_redis_pass', view.database.uid)
    ? shownOnce(shownWhole, view, true)
    : showWithoutSecrets(view)
}

/** A database without its password and without arguments of modules. */
export function showWithoutSecrets(view: DatabaseView): DatabaseAnswer {
  return shownOnce(shownWithout, view, false)
}

type Shown = WeakMap<DatabaseView, DatabaseAnswer>

/** While nothing changes a view is the same object, and is shown thousands of times. */
function shownOnce(known: Shown, view: DatabaseView, showsSecrets: boolean): DatabaseAnswer {
  const answer = known.get(view) ?? toWire(view, showsSecrets)
  known.set(view, answer)
  return answer
}

const shownWhole: Shown = new WeakMap()
const shownWithout: Shown = new WeakMap()
