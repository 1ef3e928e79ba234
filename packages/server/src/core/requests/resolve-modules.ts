import type { Build } from '@fairlead/api'
import { compareVersions } from '@fairlead/engine'
import { type Module, splitArgs } from '../modules/module.ts'
import type { UsedModule } from '../state/goal.ts'
import type { Refused } from '../state/refused.ts'
import { type ModuleTraits, obstacleOfCapabilities, obstaclesOfVersions } from './module-rules.ts'

/** An entry of a request to upgrade modules. Either set of the specification's keys names the module. */
export interface ModuleEntry {
  /** Place in the request, for messages: "modules[0]". */
  readonly place: string
  /** Uid of the database's present module. */
  readonly currentModule: string | undefined
  readonly moduleName: string | undefined
  readonly currentVersion: string | undefined
  /** Uid; undefined: the newest version allowed by engine, Fairlead and database. */
  readonly newModule: string | undefined
  /** Undefined: unchanged. Empty: none. */
  readonly newArgs: readonly string[] | undefined
}

/** An entry of a new database's modules. */
export interface NewModuleEntry {
  readonly place: string
  readonly uid: string | undefined
  readonly name: string | undefined
  /** Undefined: the newest allowed by engine, Fairlead and database. */
  readonly semanticVersion: string | undefined
  /** Undefined: the arguments in the module's package. */
  readonly args: readonly string[] | undefined
}

/** Facts for judging a request for modules. */
export interface ModuleInputs {
  /** Future build of the database. */
  readonly build: Build
  readonly traits: ModuleTraits
  readonly catalogue: readonly Module[]
}

/**
 * The database's future modules, by name; or every obstacle of all entries, in the order of
 * docs/operate/modules.md. `passedOver`: a sentence for each newer version that does not fit.
 */
export type ResolvedModules =
  | { readonly modules: readonly UsedModule[]; readonly passedOver: readonly string[] }
  | { readonly obstacles: readonly Refused[] }

/**
 * Returns the modules of a database after an upgrade. `latest`: unnamed modules are upgraded to their newest
 * version, too. Unchanged modules must still support the engine.
 */
export function resolveModules(
  current: readonly UsedModule[],
  entries: readonly ModuleEntry[],
  latest: boolean,
  scene: ModuleInputs,
): ResolvedModules {
  const named = entries.map((entry) => ({ entry, used: findUsed(entry, current, scene) }))
  const unclear = named.flatMap(({ used }) => ('refused' in used ? [used] : []))
  const doubles = doublesOf(named)
  if (unclear.length + doubles.length > 0) return { obstacles: inOrder([...unclear, ...doubles]) }
  return collect(
    current.map((used) => {
      const entry = named.find((one) => one.used === used)?.entry
      if (entry !== undefined) return inField(entry.place, raise(used, entry, scene))
      return latest ? raise(used, newest(used), scene) : keep(used, scene)
    }),
  )
}

/** Returns the modules of a new database. */
export function resolveNewModules(entries: readonly NewModuleEntry[], scene: ModuleInputs): ResolvedModules {
  const resolved = collect(entries.map((entry) => inField(entry.place, resolveNew(entry, scene))))
  if ('obstacles' in resolved) return resolved
  const double = resolved.modules.find(
    ({ name }, n) => n !== resolved.modules.findIndex((one) => one.name === name),
  )
  if (double === undefined) return resolved
  return {
    obstacles: [
      conflict(`module_list names ${double.name} twice: a database has a module once`, 'module_list'),
    ],
  }
}

/** A wanted module, or the obstacles. */
type Resolved =
  | { readonly module: UsedModule; readonly passedOver?: readonly string[] }
  | { readonly obstacles: readonly Refused[] }

/** Obstacles without a field concern the whole entry. */
function inField(field: string, resolved: Resolved): Resolved {
  if ('module' in resolved) return resolved
  return { obstacles: resolved.obstacles.map((obstacle) => ({ field, ...obstacle })) }
}

function collect(resolved: readonly Resolved[]): ResolvedModules {
  const obstacles = resolved.flatMap((one) => ('obstacles' in one ? one.obstacles : []))
  if (obstacles.length > 0) return { obstacles: inOrder(obstacles) }
  const modules = resolved.flatMap((one) => ('module' in one ? [one.module] : []))
  const passedOver = resolved.flatMap((one) => ('module' in one ? (one.passedOver ?? []) : []))
  return { modules: modules.toSorted((a, b) => (a.name < b.name ? -1 : 1)), passedOver }
}

/** Returns the database's module that an entry names. Two names in one entry must agree. */
function findUsed(
  entry: ModuleEntry,
  current: readonly UsedModule[],
  { catalogue }: ModuleInputs,
): UsedModule | Refused {
  const { place, currentModule, moduleName, currentVersion } = entry
  if (currentModule === undefined && moduleName === undefined)
    return invalid(`${place} names no module: send current_module, or module_name`, place)
  const used = current.find(
    ({ uid, name }) => uid === currentModule || (currentModule === undefined && name === moduleName),
  )
  if (used === undefined) return explainUnused(entry, current, catalogue)
  if (moduleName !== undefined && moduleName !== used.name)
    return conflict(
      `${place}: current_module is ${used.name}, and module_name is ${moduleName}`,
      `${place}.current_module`,
    )
  if (currentVersion !== undefined && currentVersion !== used.semanticVersion)
    return invalid(
      `${place}.current_semantic_version is ${currentVersion}, and the database has ${used.name} ${used.semanticVersion}`,
      `${place}.current_semantic_version`,
    )
  return used
}

function explainUnused(
  { place, currentModule, moduleName }: ModuleEntry,
  current: readonly UsedModule[],
  catalogue: readonly Module[],
): Refused {
  const known = catalogue.find(({ uid, name }) => uid === currentModule || name === moduleName)
  const asked = currentModule ?? moduleName ?? ''
  if (known === undefined) return missing(`${place}: there is no module ${asked} in the cluster`, place)
  const has = current.map(({ name, semanticVersion, uid }) => `${name} ${semanticVersion} (${uid})`)
  return invalid(
    `${place}: the database does not have ${known.name}${currentModule === undefined ? '' : ` ${known.semanticVersion}`}; it has ${has.join(', ') || 'no modules'}`,
    place,
  )
}

function doublesOf(named: readonly { readonly used: UsedModule | Refused }[]): readonly Refused[] {
  const uses = named.flatMap(({ used }) => ('refused' in used ? [] : [used]))
  const doubles = uses.filter((used, n) => uses.indexOf(used) !== n)
  return doubles.map(({ name }) => conflict(`modules names ${name} twice: send one entry for it`, 'modules'))
}

/** Returns the request of `latest_with_modules` for an unnamed module. */
function newest({ name }: UsedModule): ModuleEntry {
  const nothing = { currentModule: undefined, currentVersion: undefined, newArgs: undefined }
  return { place: name, moduleName: name, newModule: undefined, ...nothing }
}

function raise(used: UsedModule, { place, newModule, newArgs }: ModuleEntry, scene: ModuleInputs): Resolved {
  if (newModule === undefined) return choose(used.name, used, newArgs ?? used.args, scene)
  const to = find(place, newModule, used, scene)
  if ('refused' in to) return { obstacles: [to] }
  const obstacles = [
    ...(compareVersions(to.semanticVersion, used.semanticVersion) < 0 ? [downgrade(used, to)] : []),
    ...obstaclesTo(to, to.uid === used.uid ? null : scene.traits, scene.build),
  ]
  if (obstacles.length > 0) return { obstacles }
  return { module: use(to, newArgs ?? used.args) }
}

function find(place: string, uid: string, used: UsedModule, { catalogue }: ModuleInputs): Module | Refused {
  const module = catalogue.find((one) => one.uid === uid)
  if (module === undefined)
    return missing(`${place}.new_module: there is no module ${uid} in the cluster`, `${place}.new_module`)
  if (module.name === used.name) return module
  return invalid(
    `${place}.new_module is ${module.name}, which is no version of ${used.name}`,
    `${place}.new_module`,
  )
}

/** Keeps a module: its capabilities were checked when it was added; only the engine may change. */
function keep(used: UsedModule, { build, catalogue }: ModuleInputs): Resolved {
  const module = catalogue.find(({ uid }) => uid === used.uid)
  if (module === undefined)
    return { obstacles: [missing(`${used.name} ${used.semanticVersion} is not in the cluster any more`)] }
  const obstacles = obstaclesTo(module, null, build)
  return obstacles.length > 0 ? { obstacles } : { module: used }
}

function resolveNew(entry: NewModuleEntry, scene: ModuleInputs): Resolved {
  const { uid, name, semanticVersion, args } = entry
  if (uid === undefined && name !== undefined && semanticVersion === undefined)
    return choose(name, null, args, scene)
  const module = findNew(entry, scene)
  if ('refused' in module) return { obstacles: [module] }
  const obstacles = obstaclesTo(module, scene.traits, scene.build)
  if (obstacles.length > 0) return { obstacles }
  return { module: use(module, entry.args ?? splitArgs(module.commandLineArgs) ?? []) }
}

function findNew(
  { place, uid, name, semanticVersion }: NewModuleEntry,
  scene: ModuleInputs,
): Module | Refused {
  if (uid === undefined && name === undefined)
    return invalid(`${place} names no module: send module_name, or module_id`, place)
  const module = scene.catalogue.find(
    (one) =>
      (uid === undefined || one.uid === uid) &&
      (name === undefined || one.name === name) &&
      (semanticVersion === undefined || one.semanticVersion === semanticVersion),
  )
  if (module !== undefined) return module
  const asked = [name, semanticVersion, uid].filter((word) => word !== undefined).join(' ')
  return missing(`${place}: there is no module ${asked} in the cluster`, place)
}

/**
 * Returns the newest fitting version, not older than `used`. If none fits: the obstacles of the newest one
 * that the engine allows, or of the newest. `args` undefined: those of its package.
 */
function choose(
  name: string,
  used: UsedModule | null,
  args: readonly string[] | undefined,
  { catalogue, build, traits }: ModuleInputs,
): Resolved {
  const versions = catalogue
    .filter((module) => module.name === name)
    .toSorted((a, b) => compareVersions(b.semanticVersion, a.semanticVersion))
  const rising = versions.filter(
    ({ semanticVersion }) => used === null || compareVersions(semanticVersion, used.semanticVersion) >= 0,
  )
  const obstacles = (module: Module) => obstaclesTo(module, module.uid === used?.uid ? null : traits, build)
  const best = rising.find((module) => obstacles(module).length === 0)
  if (best !== undefined)
    return {
      module: use(best, args ?? splitArgs(best.commandLineArgs) ?? []),
      passedOver: rising
        .slice(0, rising.indexOf(best))
        .flatMap(obstacles)
        .map(({ message }) => message),
    }
  const nearest = versions.find((module) => obstaclesOfVersions(module, build).length === 0) ?? versions[0]
  if (nearest === undefined) return { obstacles: [missing(`there is no module ${name} in the cluster`)] }
  const isOlder = used !== null && compareVersions(nearest.semanticVersion, used.semanticVersion) < 0
  return { obstacles: [...(isOlder ? [downgrade(used, nearest)] : []), ...obstacles(nearest)] }
}

/** `traits` null: its capabilities were checked before. */
function obstaclesTo(module: Module, traits: ModuleTraits | null, build: Build): readonly Refused[] {
  const lacking = traits === null ? undefined : obstacleOfCapabilities(module, traits)
  return [...obstaclesOfVersions(module, build), ...(lacking === undefined ? [] : [lacking])]
}

function use({ uid, name, semanticVersion, sha256 }: Module, args: readonly string[]): UsedModule {
  return { uid, name, semanticVersion, sha256, args }
}

function downgrade(used: UsedModule, to: Module): Refused {
  return {
    refused: 'module_downgrade_unsupported',
    message: `${to.name} ${to.semanticVersion} is older than the ${used.semanticVersion} that the database has`,
  }
}

function invalid(message: string, field: string): Refused {
  return { refused: 'invalid_request', message, field }
}

function conflict(message: string, field: string): Refused {
  return { refused: 'conflicting_fields', message, field }
}

function missing(message: string, field?: string): Refused {
  return { refused: 'missing_module', message, ...(field !== undefined && { field }) }
}

const ORDER: readonly Refused['refused'][] = [
  'invalid_request',
  'conflicting_fields',
  'missing_module',
  'module_downgrade_unsupported',
  'engine_incompatible_version',
  'engine_pack_incompatible_version',
  'unsupported_module_capabilities',
]

function inOrder(obstacles: readonly Refused[]): readonly Refused[] {
  return obstacles.toSorted((a, b) => ORDER.indexOf(a.refused) - ORDER.indexOf(b.refused))
}
