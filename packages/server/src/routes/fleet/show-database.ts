import type { Database as DatabaseAnswer } from '@fairlead/api'
import { type Caller, may } from '../../core/identity/access.ts'
import type { DatabaseView } from '../../fleet/databases/databases-service.ts'
import { toWire } from './database-wire.ts'

/**
 * A database with its secrets, if the caller may see them, for programs of the wider API. Browser sessions
 * must request secrets separately.
 */
export function show(view: DatabaseView, { user, token }: Caller): DatabaseAnswer {
  return token?.isSession !== true && may(user, 'view_redis_pass', view.database.uid)
    ? shownOnce(shownWhole, view, true)
    : showWithoutSecrets(view)
}

/** A database without password and module arguments. */
export function showWithoutSecrets(view: DatabaseView): DatabaseAnswer {
  return shownOnce(shownWithout, view, false)
}

type Shown = WeakMap<DatabaseView, DatabaseAnswer>

/** An unchanged view is the same object, shown thousands of times. */
function shownOnce(known: Shown, view: DatabaseView, showsSecrets: boolean): DatabaseAnswer {
  const answer = known.get(view) ?? toWire(view, showsSecrets)
  known.set(view, answer)
  return answer
}

const shownWhole: Shown = new WeakMap()
const shownWithout: Shown = new WeakMap()
