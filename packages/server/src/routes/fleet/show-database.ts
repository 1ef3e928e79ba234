import type { Database as DatabaseAnswer } from '@fairlead/api'
import { type Caller, may } from '../../core/identity/access.ts'
import type { DatabaseView } from '../../fleet/databases/databases-service.ts'
import { toWire } from './database-wire.ts'

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
