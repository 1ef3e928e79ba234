import { isDeepStrictEqual } from 'node:util'
import { type Body, type Database, Refusal, updateDatabase } from '@fairlead/api'
import { actorOf } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import type { Databases } from './databases-service.ts'
import type { LimitChanges } from './limits-service.ts'
import { show } from './show-database.ts'

/** Serves PUT /v1/bdbs/:uid; with `dry_run` it answers what would be. */
export function limitsRoutes(mount: Mount, limits: LimitChanges, databases: Pick<Databases, 'get'>): void {
  mount(updateDatabase, async ({ params, query, body }, caller) => {
    const { memory_size, eviction_policy, ...settled } = body
    if (Object.keys(settled).length > 0) refuseOthers(settled, show(await databases.get(params.uid), caller))
    const request = { memoryBytes: memory_size, evictionPolicy: eviction_policy }
    const isDry = query.dry_run !== undefined && query.dry_run !== 'false'
    const view = isDry
      ? await limits.foresee(params.uid, request)
      : await limits.change(params.uid, request, actorOf(caller))
    return show(view, caller)
  })
}

/** A value that the database has is no change. What the caller may not see differs from everything: a comparison would tell. */
function refuseOthers(settled: Body<typeof updateDatabase>, has: Database): void {
  const values: Readonly<Record<string, unknown>> = has
  const others = Object.entries(settled).filter(([name, value]) => !isDeepStrictEqual(value, values[name]))
  if (others.length === 0) return
  const can = `memory_size and eviction_policy can, and POST /v1/bdbs/${has.uid}/upgrade changes the engine`
  const refusing = (field: string) => `${field}: cannot be changed; ${can}`
  const code = 'field_not_available'
  throw new Refusal(code, refusing(others.map(([name]) => name).join(', ')), {
    obstacles: others.map(([field]) => ({ code, field, message: refusing(field) })),
  })
}
