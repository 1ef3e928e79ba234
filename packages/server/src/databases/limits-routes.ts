import { updateDatabase } from '@fairlead/api'
import { actorOf } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import { show } from './databases-routes.ts'
import type { LimitChanges } from './limits-service.ts'

/** Serves PUT /v1/bdbs/:uid; with `dry_run` it answers what would be. */
export function limitsRoutes(mount: Mount, limits: LimitChanges): void {
  mount(updateDatabase, async ({ params, query, body }, caller) => {
    const request = { memoryBytes: body.memory_size, evictionPolicy: body.eviction_policy }
    const isDry = query.dry_run !== undefined && query.dry_run !== 'false'
    const view = isDry
      ? await limits.foresee(params.uid, request)
      : await limits.change(params.uid, request, actorOf(caller))
    return show(view, caller)
  })
}
