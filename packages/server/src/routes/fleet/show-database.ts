import type { Database as DatabaseAnswer } from '@fairlead/api'
import { type Caller, may } from '../../core/identity/access.ts'
import type { DatabaseView } from '../../fleet/databases/databases-service.ts'
import { toWire } from './database-wire.ts'

/**
 * Shows a database as this caller may see it, where programs of the wider API expect its secrets. A page in a browser asks for
 * them by name.
 */
export function show(view: DatabaseView, { user, token }: Caller): DatabaseAnswer {
  return toWire(view, token?.isSession !== true && may(user, 'view_redis_pass', view.database.uid))
}

/** Shows a database without its password and without arguments of modules. */
export function showWithoutSecrets(view: DatabaseView): DatabaseAnswer {
  return toWire(view, false)
}
