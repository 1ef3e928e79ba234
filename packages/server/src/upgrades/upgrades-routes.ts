import { type Body, upgradeDatabase } from '@fairlead/api'
import { actorOf } from '../core/access.ts'
import type { UpgradeRequest } from '../core/settle-upgrade.ts'
import { oneOf } from '../databases/database-wire.ts'
import { show } from '../databases/databases-routes.ts'
import type { Mount } from '../http/mount.ts'
import type { Upgrades } from './upgrades-service.ts'

export function upgradesRoutes(mount: Mount, upgrades: Upgrades): void {
  mount(upgradeDatabase, async ({ params, body }, caller) =>
    show(await upgrades.start(params.uid, toRequest(body), actorOf(caller)), caller),
  )
}

/** Wire words stop here. A field whose value asks for nothing special (false, 0, an empty list) asks for nothing. */
function toRequest(body: Body<typeof upgradeDatabase>): UpgradeRequest {
  return {
    forceRestart: body.force_restart ?? false,
    keepEngineVersion:
      oneOf('keep_engine_version', body.keep_engine_version, 'keep_redis_version', body.keep_redis_version) ??
      false,
    latestWithModules: body.latest_with_modules ?? false,
    preserveRoles: body.preserve_roles ?? false,
    swapRoles: body.swap_roles ?? false,
    engineVersion: oneOf('engine_version', body.engine_version, 'redis_version', body.redis_version),
    mayDiscard: body.may_discard_data ?? false,
    forceDiscard: body.force_discard ?? false,
    policy: {
      parallel: body.parallel_shards_upgrade ?? 0,
      canary: body.canary ?? true,
      supervised: body.supervised ?? false,
      rollbackWindow:
        body.rollback_window === 'until_finalized' ? 'until-finalized' : (body.rollback_window ?? 0),
    },
    notYet: [...((body.modules?.length ?? 0) > 0 ? ['modules'] : [])],
  }
}
