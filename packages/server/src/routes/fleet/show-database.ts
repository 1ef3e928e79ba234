import type { Database as DatabaseAnswer } from '@fairlead/api'
import { type Caller, may } from '../../core/identity/access.ts'
import type { DatabaseView } from '../../fleet/databases/databases-service.ts'
import { toWire } from './database-wire.ts'

/**
 * A database with its secrets, if the caller may see them, for programs of the wider API. Browser sessions
 * must request secrets separately.
 */
export function show(view: DatabaseView, { user, token }: Caller): DatabaseAnswer {
  return toWire(view, token?.isSession !== true && may(user, 'view_redis_pass', view.database.uid))
}

/** A database without password and module arguments. */
export function showWithoutSecrets(view: DatabaseView): DatabaseAnswer {
  return toWire(view, false)
}
