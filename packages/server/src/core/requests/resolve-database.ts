import type { Build } from '@fairlead/api'
import type { Module } from '../modules/module.ts'
import type { Runs } from '../state/goal.ts'
import { type Refused, refusedForAll } from '../state/refused.ts'
import type { ModuleTraits } from './module-rules.ts'
import { type OfferedBuild, resolveBuild, resolveHoles } from './resolve-build.ts'
import { type NewModuleEntry, resolveNewModules } from './resolve-modules.ts'

interface DatabaseRequest extends ModuleTraits {
  readonly engineVersion: string | undefined
  /** Flavour for a version without one, if it has a fitting build. */
  readonly preferredFlavour?: string
  readonly modules: readonly NewModuleEntry[]
}

/**
 * Returns the build and modules for a new database's shards. Without a version: the newest that its modules
 * allow. A refusal lists every obstacle; its code is the first one's.
 */
export function resolveDatabase(
  request: DatabaseRequest,
  builds: readonly OfferedBuild[],
  catalogue: readonly Module[],
): Pick<Runs, 'build' | 'modules'> | Refused {
  const modulesOn = (build: Build) =>
    resolveNewModules(request.modules, { build, traits: request, catalogue })
  const allowed = soundFirst(builds.filter((build) => 'modules' in modulesOn(build)))
  const target = choose(request, builds, allowed)
  if ('refused' in target) return target
  const insecure = resolveHoles(target.build, undefined, builds)
  if (insecure !== undefined) return insecure
  const resolved = modulesOn(target.build)
  if ('modules' in resolved) return { build: target.build, modules: resolved.modules }
  const refused = refusedForAll(resolved.obstacles)
  if (refused === undefined) throw new Error('a refusal without an obstacle')
  return refused
}

/**
 * Chooses, among builds that fit the request, one that the modules allow, if any. Modules do not change the
 * flavour of a named version.
 */
function choose(
  { engineVersion, preferredFlavour }: Pick<DatabaseRequest, 'engineVersion' | 'preferredFlavour'>,
  builds: readonly OfferedBuild[],
  allowed: readonly OfferedBuild[],
) {
  if (engineVersion === undefined)
    return resolveBuild(undefined, null, allowed.length > 0 ? allowed : builds, preferredFlavour)
  const named = resolveBuild(engineVersion, null, builds, preferredFlavour)
  if ('refused' in named) return named
  const fitting = resolveBuild(engineVersion, named.build.flavour, allowed)
  return 'build' in fitting ? fitting : named
}

/** Returns the build of a new database without modules or requested version; undefined if there is none. */
export function buildForNew(builds: readonly OfferedBuild[]): Build | undefined {
  const target = resolveBuild(undefined, null, soundFirst(builds))
  return 'refused' in target ? undefined : target.build
}

/** Returns the builds without holes, of any flavour; all if there are none. */
function soundFirst(builds: readonly OfferedBuild[]): readonly OfferedBuild[] {
  const sound = builds.filter(({ refusedFor = [] }) => refusedFor.length === 0)
  return sound.length > 0 ? sound : builds
}
