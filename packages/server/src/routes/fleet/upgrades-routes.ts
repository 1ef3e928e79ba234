import {
  type Body,
  isSet,
  listUpgradeTargets,
  type Output,
  Refusal,
  upgradeDatabase,
  upgradeModules,
  upgradeModulesOlder,
} from '@fairlead/api'
import { runsForeignCode } from '@fairlead/engine'
import type { UpgradePlan } from '../../core/dry-run/describe-plan.ts'
import { actorOf, type Caller } from '../../core/identity/access.ts'
import type { ModuleEntry } from '../../core/requests/resolve-modules.ts'
import type { UpgradeRequest } from '../../core/requests/resolve-upgrade.ts'
import { plainPolicy, type UsedModule } from '../../core/state/goal.ts'
import { toObstacle } from '../../fleet/refusals/to-refusal.ts'
import type {
  ForeseenUpgrade,
  JudgedTarget,
  UpgradedModules,
  Upgrades,
} from '../../fleet/upgrades/upgrades-service.ts'
import { obstacleToWire } from '../../http/answer-error.ts'
import type { Mount } from '../../http/mount.ts'
import { argsFromWire, oneOf, show, showWithoutSecrets } from './database-wire.ts'

/** Serves upgrades of databases and modules, and their targets; `dry_run` answers with the plan. */
export function upgradesRoutes(mount: Mount, upgrades: Upgrades): void {
  mount(listUpgradeTargets, async ({ params }) => {
    const { database, targets } = await upgrades.targets(params.uid)
    return targets.map((target) => targetToWire(target, database.modules))
  })

  mount(upgradeDatabase, async ({ params, query, body, basis: bases }, caller) => {
    const request = toRequest(body)
    if (!isSet(query.dry_run))
      return showWithoutSecrets(await upgrades.start(params.uid, request, actorOf(caller), bases))
    const foreseen = await upgrades.foresee(params.uid, request, bases)
    return { ...showWithoutSecrets(foreseen.view), plan: planToWire(foreseen) }
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

function planToWire({
  plan,
  basis,
  suite,
  busy,
}: ForeseenUpgrade): NonNullable<Output<typeof upgradeDatabase>['plan']> {
  return {
    engine: plan.build.flavour,
    engine_version: plan.build.version,
    ...(suite !== undefined && { suite }),
    modules: plan.modules.map(({ name, semanticVersion }) => ({
      module_name: name,
      semantic_version: semanticVersion,
    })),
    basis,
    change: plan.change,
    possible: busy === undefined && plan.trial?.ok !== false,
    obstacles: busy === undefined ? [] : [obstacleToWire(toObstacle(busy))],
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

type Entry = NonNullable<Body<typeof upgradeDatabase>['modules']>[number]

/** Translates one entry at `place`, like "modules[0]". Wire words stop here. */
function moduleEntryFromWire(entry: Entry, place: string): ModuleEntry {
  const { current_module: current, new_module_args: args } = entry
  return {
    place,
    currentModule: current === undefined ? undefined : String(current),
    moduleName: entry.module_name,
    currentVersion: entry.current_semantic_version,
    newModule: entry.new_module,
    newArgs: args === undefined ? undefined : argsFromWire(args, `${place}.new_module_args`),
  }
}

/** An upgrade of modules only. */
function moduleUpgradeFromWire(body: Body<typeof upgradeModules>): UpgradeRequest {
  return {
    forceRestart: body.force_restart ?? false,
    keepEngineVersion: true,
    latestWithModules: false,
    preserveRoles: body.preserve_roles ?? false,
    swapRoles: false,
    engineVersion: undefined,
    mayDiscard: body.may_discard_data ?? false,
    forceDiscard: false,
    policy: plainPolicy,
    modules: entriesOf(body),
    written: writtenOf(body),
  }
}

/** The same request as an upgrade of the database. */
function writtenOf(body: Body<typeof upgradeModules>): Readonly<Record<string, unknown>> {
  const { modules, preserve_roles, may_discard_data, force_restart, ...single } = body
  return {
    ...(preserve_roles !== undefined && { preserve_roles }),
    ...(may_discard_data !== undefined && { may_discard_data }),
    ...(force_restart !== undefined && { force_restart }),
    keep_engine_version: true,
    modules: (modules ?? [single]).map(withoutArgs),
  }
}

/** Removes arguments, which may hold secrets. */
function withoutArgs({ new_module_args: _, ...entry }: Entry): Omit<Entry, 'new_module_args'> {
  return entry
}

function entriesOf(body: Body<typeof upgradeModules>): readonly ModuleEntry[] {
  const {
    modules,
    preserve_roles: _roles,
    may_discard_data: _discard,
    force_restart: _restart,
    ...single
  } = body
  const fields = Object.keys(single)
  if (modules !== undefined && fields.length > 0)
    throw new Refusal(
      'conflicting_fields',
      `modules and ${fields.join(', ')} name modules in two places: send the list, or one module without it`,
    )
  if (modules !== undefined) return modules.map((entry, n) => moduleEntryFromWire(entry, `modules[${n}]`))
  if (fields.length === 0) throw new Refusal('invalid_request', 'modules: name at least one module')
  return [moduleEntryFromWire(single, 'the request')]
}

function targetToWire(
  { build, isCurrent, isNewest, isRecommended, obstacles, withNewest, holes }: JudgedTarget,
  modules: readonly UsedModule[],
): Output<typeof listUpgradeTargets>[number] {
  const newest = withNewest?.modules ?? []
  return {
    engine: build.flavour,
    engine_version: build.version,
    current: isCurrent,
    newest: isNewest,
    recommended: isRecommended,
    insecure: holes.some(runsForeignCode),
    known_holes: [...holes],
    ...judgementOf(obstacles),
    modules: modules.map(({ name, semanticVersion }) => ({
      module_name: name,
      semantic_version: semanticVersion,
      newest_version: newest.find((module) => module.name === name)?.semanticVersion ?? null,
    })),
    with_newest_modules: withNewest === undefined ? null : judgementOf(withNewest.obstacles),
  }
}

function judgementOf(obstacles: JudgedTarget['obstacles']) {
  return {
    possible: obstacles.length === 0,
    obstacles: obstacles.map((refused) => obstacleToWire(toObstacle(refused))),
  }
}
