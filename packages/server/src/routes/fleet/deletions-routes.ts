import { deleteDatabase, isSet, type Output } from '@fairlead/api'
import { actorOf } from '../../core/identity/access.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import type { DeletionPlan, Deletions } from '../../fleet/endpoints/deletions-service.ts'
import type { Mount } from '../../http/mount.ts'
import { obstacleToWire } from '../../http/obstacle-to-wire.ts'

/** Serves deletions of databases; `dry_run` answers with the plan. */
export function deletionsRoutes(
  mount: Mount,
  databases: Pick<Databases, 'remove'>,
  deletions: Deletions,
): void {
  mount(deleteDatabase, async ({ params: { uid }, query }, caller) => {
    if (isSet(query.dry_run)) return { uid, plan: planToWire(await deletions.foresee(uid)) }
    return { uid, action_uid: (await databases.remove(uid, actorOf(caller))).actionUid }
  })
}

function planToWire(plan: DeletionPlan): NonNullable<Output<typeof deleteDatabase>['plan']> {
  return {
    possible: plan.obstacles.length === 0,
    obstacles: plan.obstacles.map(obstacleToWire),
    clients: plan.clients,
    keys: plan.keys,
    shards: plan.shards,
    replicas: [...plan.replicas],
    standbys: [...plan.standbys],
    action_uid: plan.actionUid,
    data_persistence: plan.database.persistence,
    last_saved_time: plan.savedAt === null ? null : new Date(plan.savedAt).toISOString(),
    memory_used: plan.memoryUsedBytes,
    memory_reserved: plan.memoryReservedBytes,
  }
}
