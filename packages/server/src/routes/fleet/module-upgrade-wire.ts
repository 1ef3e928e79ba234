import { type Body, Refusal, type upgradeDatabase, type upgradeModules } from '@fairlead/api'
import type { ModuleEntry } from '../../core/requests/resolve-modules.ts'
import type { UpgradeRequest } from '../../core/requests/resolve-upgrade.ts'
import { plainPolicy } from '../../core/state/goal.ts'
import { argsFromWire } from './module-args-wire.ts'

type Entry = NonNullable<Body<typeof upgradeDatabase>['modules']>[number]

/** Translates one entry at `place`, like "modules[0]". Wire words stop here. */
export function moduleEntryFromWire(entry: Entry, place: string): ModuleEntry {
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
export function moduleUpgradeFromWire(body: Body<typeof upgradeModules>): UpgradeRequest {
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
export function withoutArgs({ new_module_args: _, ...entry }: Entry): Omit<Entry, 'new_module_args'> {
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
