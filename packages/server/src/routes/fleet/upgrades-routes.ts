import {
  type Body,
  isSet,
  type Output,
  upgradeDatabase,
  upgradeModules,
  upgradeModulesOlder,
} from '@fairlead/api'
import type { UpgradePlan } from '../../core/dry-run/describe-plan.ts'
import { actorOf, type Caller } from '../../core/identity/access.ts'
import type { UpgradeRequest } from '../../core/requests/resolve-upgrade.ts'
import type { UpgradedModules, Upgrades } from '../../fleet/upgrades/upgrades-service.ts'
import type { Mount } from '../../http/mount.ts'
import { oneOf } from './database-wire.ts'
import { moduleEntryFromWire, moduleUpgradeFromWire, withoutArgs } from './module-upgrade-wire.ts'
import { show, showWithoutSecrets } from './show-database.ts'

/** Serves upgrades of databases and modules; `dry_run` answers with the plan. */
export function upgradesRoutes(mount: Mount, upgrades: Upgrades): void {
  mount(upgradeDatabase, async ({ params, query, body, basis: bases }, caller) => {
    const request = toRequest(body)
    if (!isSet(query.dry_run))
      return showWithoutSecrets(await upgrades.start(params.uid, request, actorOf(caller), bases))
    const { view, plan, basis } = await upgrades.foresee(params.uid, request, bases)
    return { ...showWithoutSecrets(view), plan: planToWire(plan, basis) }
  })

  for (const operation of [upgradeModules, upgradeModulesOlder]) {
    mount(operation, async ({ params, body, waitPreference }, caller) => {
      const request = moduleUpgradeFromWire(body)
      const upgraded = await upgrades.startModules(params.uid, request, actorOf(caller))
      const view = waitPreference.isAsync
        ? upgraded.view
        : await upgrades.untilDone(upgraded.view, waitPreference.signal)
      return showModules({ ...upgraded, view }, caller)
    })
  }
}

/** The named modules, as the database has them now. */
function showModules(
  { view, names, actionUid }: UpgradedModules,
  caller: Caller,
): Output<typeof upgradeModules> {
  const { uid, name, module_list: all } = show(view, caller)
  const modules = names.flatMap((named) => all.filter((module) => module.module_name === named))
  const [first] = modules
  if (first === undefined) throw new Error('a module was upgraded that the database does not have')
  return { uid, name, ...first, modules, ...(actionUid !== undefined && { action_uid: actionUid }) }
}

function planToWire(plan: UpgradePlan, basis: string): NonNullable<Output<typeof upgradeDatabase>['plan']> {
  return {
    engine: plan.build.flavour,
    engine_version: plan.build.version,
    modules: plan.modules.map(({ name, semanticVersion }) => ({
      module_name: name,
      semantic_version: semanticVersion,
    })),
    basis,
    change: plan.change,
    ...prospectsToWire(plan),
    lanes: plan.lanes.map(({ group, steps, redundancyMin, wayBack }) => ({
      group,
      redundancy_min: redundancyMin,
      way_back: wayBackToWire(wayBack),
      steps: steps.map(({ kind, shard, from, why }) => ({
        op_name: kind,
        shard: from === null ? shard : `${from} to ${shard}`,
        why,
      })),
    })),
    handovers: plan.handovers,
    write_stop_ms: plan.writeStopMs,
    outage_ms: plan.outageMs,
    memory_needed: plan.memoryNeededBytes,
    memory_free: plan.memoryFreeBytes,
    disk_needed: plan.diskNeededBytes,
    disk_free: plan.diskFreeBytes,
    backlog: plan.backlogBytes,
    ...(plan.trial !== null && {
      trial: { ok: plan.trial.ok, why: plan.trial.why, start_ms: plan.trial.startMs },
    }),
    risks: [...plan.risks],
    unproven: [...plan.unproven],
  }
}

/** Duration and redundancy of the upgrade. */
function prospectsToWire(plan: UpgradePlan) {
  return {
    duration: {
      ms: plan.change ? plan.duration.ms : null,
      parts: plan.duration.parts.map(({ basedOn, ...part }) => ({ ...part, based_on: basedOn })),
      not_counted: [...plan.duration.notCounted],
    },
    redundancy_min: plan.redundancyMin,
    way_back: { ...wayBackToWire(plan.wayBack), afterwards: plan.afterwards },
  }
}

function wayBackToWire(wayBack: UpgradePlan['wayBack']) {
  return { ...wayBack, loss: wayBack.until === 'never' ? null : ('none' as const) }
}

/** Neutral values (false, 0, an empty list) count as absent. Wire words stop here. */
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
    modules: (body.modules ?? []).map((entry, n) => moduleEntryFromWire(entry, `modules[${n}]`)),
    written: { ...body, ...(body.modules !== undefined && { modules: body.modules.map(withoutArgs) }) },
  }
}
