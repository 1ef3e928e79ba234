import { changingDatabaseFields, isSet, updateDatabase } from '@fairlead/api'
import { actorOf } from '../../core/identity/access.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import type { LimitChanges } from '../../fleet/databases/limits-service.ts'
import { refuseOthers } from '../../http/input/refuse-others.ts'
import type { Mount } from '../../http/mount.ts'
import { show } from './show-database.ts'

/** Serves PUT /v1/bdbs/:uid; `dry_run` only answers with the result. */
export function limitsRoutes(mount: Mount, limits: LimitChanges, databases: Pick<Databases, 'get'>): void {
  mount(updateDatabase, async ({ params, query, body }, caller) => {
    const { memory_size, eviction_policy, ...sent } = body
    // Programs send back unchanged fields.
    const settled = Object.fromEntries(
      Object.entries(sent).filter(([name]) => !changingDatabaseFields.includes(name)),
    )
    if (Object.keys(settled).length > 0) {
      const instead = `memory_size and eviction_policy can, and POST /v1/bdbs/${params.uid}/upgrade changes the engine`
      refuseOthers(settled, show(await databases.get(params.uid), caller), instead)
    }
    const request = { memoryBytes: memory_size, evictionPolicy: eviction_policy }
    const view = isSet(query.dry_run)
      ? await limits.foresee(params.uid, request)
      : await limits.change(params.uid, request, actorOf(caller))
    return show(view, caller)
  })
}
